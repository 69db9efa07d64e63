package retry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/change"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// changes are the differences from the retried Job.
type changes struct {
	change.Flags
	patch, patchFile string
	edit             bool
}

func (c *changes) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.AddTo(cmd,
		change.Number{Flag: "parallelism", Field: "parallelism", Usage: "How many pods run at once."},
		change.Number{Flag: "backoff-limit", Field: "backoffLimit", Usage: "How many failures the Job survives."},
		change.Number{Flag: "backoff-limit-per-index", Field: "backoffLimitPerIndex", Usage: "How many failures an index survives."},
		change.Number{Flag: "max-failed-indexes", Field: "maxFailedIndexes", Usage: "How many failed indexes the Job survives."},
		change.Number{Flag: "active-deadline-seconds", Field: "activeDeadlineSeconds", Usage: "How long the Job may run."},
	)
	flags.StringVarP(&c.patch, "patch", "p", "", "Strategic merge patch of the Job, JSON or YAML.")
	flags.StringVar(&c.patchFile, "patch-file", "", "File with such a patch, - for stdin.")
	flags.BoolVar(&c.edit, "edit", false, "Edit the Job before it is created.\nThe editor is KUBE_EDITOR or EDITOR.")
}

// validate checks the flags; its errors are usage errors.
func (c *changes) validate(flags *pflag.FlagSet) error {
	if c.patch != "" && c.patchFile != "" {
		return cmdutil.UsageErrorf("--patch and --patch-file exclude each other")
	}
	return c.Validate(flags)
}

// read reads the patch file.
func (c *changes) read(in io.Reader) (err error) {
	var data []byte
	switch c.patchFile {
	case "":
		return nil
	case "-":
		data, err = io.ReadAll(in)
	default:
		data, err = os.ReadFile(c.patchFile)
	}
	c.patch = string(data)
	return err
}

// apply changes the Job. It rejects changes of completions and completionMode, which determine the indexes.
func (c *changes) apply(ctx context.Context, env cmdutil.Env, job *unstructured.Unstructured) error {
	before := shape(job)
	if err := c.Apply(job); err != nil {
		return err
	}
	if c.patch != "" {
		if err := applyPatch(job, c.patch); err != nil {
			return err
		}
	}
	if c.edit {
		if err := edit(ctx, env, job); err != nil {
			return err
		}
	}
	if after := shape(job); after != before {
		return cmdutil.UsageErrorf("a retry has the completions and the completionMode of the Job (%s, not %s)", before, after)
	}
	return nil
}

// shape describes the fields that determine the indexes of a Job.
func shape(job *unstructured.Unstructured) string {
	completions, found, _ := unstructured.NestedInt64(job.Object, "spec", "completions")
	mode, _, _ := unstructured.NestedString(job.Object, "spec", "completionMode")
	if !found {
		return mode + " without completions"
	}
	return fmt.Sprintf("%s, %d completions", mode, completions)
}

// applyPatch applies a strategic merge patch, JSON or YAML.
func applyPatch(job *unstructured.Unstructured, text string) error {
	patch := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &patch); err != nil {
		return cmdutil.UsageErrorf("the patch is neither JSON nor YAML: %v", err)
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	original, err := job.MarshalJSON()
	if err != nil {
		return err
	}
	patched, err := strategicpatch.StrategicMergePatch(original, data, batchv1.Job{})
	if err != nil {
		return cmdutil.UsageErrorf("the patch does not fit a Job: %v", err)
	}
	return job.UnmarshalJSON(patched)
}
