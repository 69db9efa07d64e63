package manifests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/change"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// fromFlags make a Job from a CronJob or a Job of the cluster, instead of from a manifest.
type fromFlags struct {
	source, name      string
	command, suspend  bool
	changes           change.Flags
	kind, object      string   // of the source: "jobs" or "cronjobs", and its name
	arguments         []string // after --; nil to keep those of the container
	onlyWith, flagSet *pflag.FlagSet
}

func (f *fromFlags) addTo(cmd *cobra.Command, kube *cmdutil.KubeFlags) {
	own := &cobra.Command{Use: cmd.Use}
	flags := own.Flags()
	flags.StringVar(&f.name, "name", "", "Name of the new Job.\nBy default, that of the old one with a suffix.")
	flags.BoolVar(&f.command, "command", false, "Replace the command with what follows --.\nOtherwise, only the args.")
	flags.BoolVar(&f.suspend, "suspend", false, "Create the Job suspended.")
	f.changes.AddTo(own,
		change.Number{Flag: "parallelism", Field: "parallelism", Usage: "How many pods run at once."},
		change.Number{Flag: "completions", Field: "completions", Usage: "How many pods have to succeed."},
	)
	flags.VisitAll(func(flag *pflag.Flag) { flag.Annotations = map[string][]string{cmdutil.OnlyWith: {"from"}} })
	f.onlyWith, f.flagSet = flags, cmd.Flags()
	cmd.Flags().StringVar(&f.source, "from", "", "Make the Job from job/NAME or cronjob/NAME.\nIt is used instead of -f.")
	cmd.Flags().AddFlagSet(f.onlyWith)
	jobs := func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if !strings.Contains(toComplete, "/") {
			return cmdutil.WithPrefix([]string{"cronjob/", "job/"}, toComplete), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		return cmdutil.CompleteJob(kube)(cmd, nil, toComplete)
	}
	cmdutil.MustCompleteFlag(cmd, "from", cmdutil.CompleteKinds(kube, func() bool { return false }, cmdutil.CronJobQuery, jobs))
}

// resourceOf returns "jobs" or "cronjobs" for a name of the resource, "" for another one.
func resourceOf(name string) string {
	switch {
	case cmdutil.IsJobResource(name):
		return "jobs"
	case cmdutil.CronJobKinds()[strings.ToLower(name)] != "":
		return "cronjobs"
	}
	return ""
}

// validate checks the flags and the arguments of a command; its errors are usage errors. It returns the arguments that it
// does not use.
func (f *fromFlags) validate(args []string) (rest []string, err error) {
	if !f.flagSet.Changed("from") {
		f.onlyWith.VisitAll(func(flag *pflag.Flag) {
			if f.flagSet.Changed(flag.Name) && err == nil {
				err = cmdutil.UsageErrorf("--%s changes the copy of a Job; use it with --from job/NAME or --from cronjob/NAME", flag.Name)
			}
		})
		return args, err
	}
	resource, name, _ := strings.Cut(f.source, "/")
	if f.kind, f.object = resourceOf(resource), name; f.kind == "" || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, cmdutil.UsageErrorf("--from=%s: use job/NAME or cronjob/NAME", f.source)
	}
	if problems := validation.IsDNS1123Label(f.name); f.name != "" && len(problems) > 0 {
		return nil, cmdutil.UsageErrorf("--name=%s: use at most 63 lowercase letters, digits and '-', with no '-' at the beginning or end", f.name)
	}
	if dash := f.flagSet.ArgsLenAtDash(); dash >= 0 {
		f.arguments, args = slices.Clone(args[dash:]), args[:dash]
	}
	if len(args) > 0 {
		return nil, cmdutil.UsageErrorf("unexpected argument %q; put arguments of the container after --", args[0])
	}
	if f.command && len(f.arguments) == 0 {
		return nil, cmdutil.UsageErrorf("--command needs a command after --")
	}
	return nil, f.changes.Validate(f.flagSet)
}

// read returns the new Job, as one object of a manifest whose file is the source.
func (f *fromFlags) read(ctx context.Context, flags *Flags) (*manifest.Object, error) {
	config, err := cmdutil.RESTConfig(flags.kube, flags.warnings)
	if err != nil {
		return nil, err
	}
	namespace, err := cmdutil.KubeNamespace(flags.kube)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	resource := batchv1.SchemeGroupVersion.WithResource(f.kind)
	source, err := client.Resource(resource).Namespace(namespace).Get(ctx, f.object, metav1.GetOptions{})
	if err != nil {
		return nil, apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: f.kind, Namespace: namespace, Name: f.object}.Wrap(err)
	}
	made, dropped := retry.Copy(source, cmp.Or(f.name, NewName(f.object)))
	if f.kind == "cronjobs" {
		made, dropped = Instance(source, made.GetName()), nil
	}
	for _, d := range dropped {
		fmt.Fprintln(flags.warnings, "warning:", sanitize.Line(rerun.DroppedText(d)))
	}
	if err := f.changes.Apply(made); err != nil {
		return nil, err
	}
	if f.suspend {
		if err := unstructured.SetNestedField(made.Object, true, "spec", "suspend"); err != nil {
			return nil, err
		}
	}
	if err := f.setArguments(made); err != nil {
		return nil, err
	}
	return manifest.FromContent(f.source, made.Object), nil
}

// NewName returns a name that is free: a prefix of the source's, and random characters.
func NewName(source string) string {
	const random = 5
	kept := source[:min(len(source), validation.DNS1123LabelMaxLength-random-1)]
	return strings.TrimRight(strings.ReplaceAll(kept, ".", "-"), "-") + "-" + rand.String(random)
}

// Instance returns a Job of the CronJob's template. The CronJob owns it: it is deleted with it, and counts towards the history.
func Instance(cronJob *unstructured.Unstructured, name string) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(cronJob.Object, "spec", "jobTemplate")
	made := &unstructured.Unstructured{Object: map[string]any{"spec": template["spec"], "metadata": map[string]any{}}}
	written := unstructured.Unstructured{Object: template}
	annotations := written.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[input.ManualAnnotation] = "manual"
	made.SetAPIVersion(batchv1.SchemeGroupVersion.String())
	made.SetKind("Job")
	made.SetName(name)
	made.SetNamespace(cronJob.GetNamespace())
	made.SetAnnotations(annotations)
	if labels := written.GetLabels(); labels != nil {
		made.SetLabels(labels)
	}
	// Without BlockOwnerDeletion, which would need a permission for the finalizers of CronJobs.
	made.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob", Name: cronJob.GetName(), UID: cronJob.GetUID(), Controller: ptr.To(true),
	}})
	return made
}

// setArguments replaces the args, or with --command the command, of the container that -c names, or of the only one.
func (f *fromFlags) setArguments(job *unstructured.Unstructured) error {
	if f.arguments == nil {
		return nil
	}
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(job.Object, path...)
	if err != nil {
		return err
	}
	var names []string
	chosen := -1
	asked := f.changes.Container()
	for i, item := range containers {
		container, _ := item.(map[string]any)
		name, _ := container["name"].(string)
		names = append(names, name)
		if name == asked || asked == "" && len(containers) == 1 {
			chosen = i
		}
	}
	if chosen < 0 {
		return cmdutil.UsageErrorf("choose the container of the arguments after -- with -c: %s", strings.Join(names, ", "))
	}
	var arguments []any
	for _, argument := range f.arguments {
		arguments = append(arguments, argument)
	}
	container, _ := containers[chosen].(map[string]any)
	if f.command {
		delete(container, "args")
		container["command"] = arguments
	} else {
		container["args"] = arguments
	}
	return unstructured.SetNestedSlice(job.Object, containers, path...)
}
