// Package manifests prepares the objects of manifests for the API server and creates them, for the verbs.
package manifests

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Flags choose the manifests that a verb creates, and how.
type Flags struct {
	InputFlags
	from     fromFlags
	kube     *cmdutil.KubeFlags
	warnings io.Writer

	managedBy    string // "" leaves the field alone
	force        bool
	allKinds     bool
	others       OtherKinds
	validate     string
	FieldManager string

	fieldValidation string
}

// NewFlags returns flags for the namespace of kube; warnings about manifests go to warnings.
func NewFlags(kube *cmdutil.KubeFlags, warnings io.Writer) Flags {
	return Flags{kube: kube, warnings: warnings}
}

// AddTo adds the flags and their completion to a command.
func (f *Flags) AddTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.InputFlags.AddTo(cmd)
	f.from.addTo(cmd, f.kube)
	flags.StringVar(&f.managedBy, "managed-by", "", "Set spec.managedBy; by default, it is left alone.\nFor example "+controller.DefaultManagedBy+".")
	flags.BoolVar(&f.force, "force", false, "Create them even if their controller is absent.\nIt is absent if no Lease shows that it is running.")
	flags.BoolVar(&f.allKinds, "all-kinds", false, "Create objects of other kinds, too.\nBy default, they are skipped.")
	flags.StringVar(&f.validate, "validate", "strict", "Check fields: strict, warn, ignore.\nstrict has the API server reject unknown and duplicate ones.")
	flags.Lookup("validate").NoOptDefVal = "strict"
	flags.StringVar(&f.FieldManager, "field-manager", "kubectl-batchjob", "Name of the field manager, for metadata.managedFields.")
	cmdutil.MustCompleteFlag(cmd, "managed-by", cmdutil.CompleteWords(controller.DefaultManagedBy))
	cmdutil.MustCompleteFlag(cmd, "validate", cmdutil.CompleteWords("strict", "warn", "ignore"))
}

// Forced reports whether --force was given.
func (f *Flags) Forced() bool { return f.force }

// Validate checks arguments and flags; its errors are usage errors.
func (f *Flags) Validate(args []string) error {
	args, err := f.from.validate(args)
	if err != nil {
		return err
	}
	switch {
	case f.from.source == "":
		err = f.InputFlags.Validate(args)
	case len(f.files) > 0 || f.kustomize != "":
		err = cmdutil.UsageErrorf("only one of -f, -k and --from can be used")
	}
	if err != nil {
		return err
	}
	switch f.validate {
	case "strict", "true":
		f.fieldValidation = metav1.FieldValidationStrict
	case "warn":
		f.fieldValidation = metav1.FieldValidationWarn
	case "ignore", "false":
		f.fieldValidation = metav1.FieldValidationIgnore
	default:
		return cmdutil.UsageErrorf("--validate=%s: must be strict, warn or ignore", f.validate)
	}
	if given := f.kube.Overrides.Context.Namespace; given != "" && len(validation.IsDNS1123Label(given)) > 0 {
		return cmdutil.UsageErrorf("namespace %q: use at most 63 lowercase letters, digits and '-', with no '-' at the beginning or end", given)
	}
	if f.managedBy != "" {
		if err := controller.ValidateManagedBy(f.managedBy, true); err != nil {
			return cmdutil.UsageErrorf("--managed-by: %v", err)
		}
	}
	return nil
}

// Read returns the objects in the manifests, or the copy that --from makes, and an error for each object that cannot be read.
func (f *Flags) Read(ctx context.Context, env cmdutil.Env) ([]*manifest.Object, []error) {
	if f.from.source == "" {
		return f.InputFlags.Read(ctx, env)
	}
	object, err := f.from.read(ctx, f)
	if err != nil {
		return nil, []error{err}
	}
	return []*manifest.Object{object}, nil
}
