package retry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// changes are the differences from the retried Job.
type changes struct {
	container        string
	images           []string
	env              []string
	requests, limits map[string]string
	numbers          map[string]*int64 // by flag; only flags that were given
	patch, patchFile string
	edit             bool
}

// numberFlags are the flags that set a number of the spec.
var numberFlags = []struct{ flag, field, usage string }{
	{"parallelism", "parallelism", "How many pods run at once."},
	{"backoff-limit", "backoffLimit", "How many failures the Job survives."},
	{"backoff-limit-per-index", "backoffLimitPerIndex", "How many failures an index survives."},
	{"max-failed-indexes", "maxFailedIndexes", "How many failed indexes the Job survives."},
	{"active-deadline-seconds", "activeDeadlineSeconds", "How long the Job may run."},
}

func (c *changes) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&c.container, "container", "c", "", "Container to change; by default all of them.\nIt is for --image, --set-env, --requests and --limits.")
	flags.StringArrayVar(&c.images, "image", nil, "[CONTAINER=]IMAGE to run instead.\nIt may be repeated.")
	flags.StringArrayVar(&c.env, "set-env", nil, "Set NAME=VALUE, or remove NAME-.\nThey are variables of the environment.\nIt may be repeated.")
	flags.StringToStringVar(&c.requests, "requests", nil, "Resource requests, e.g. cpu=2,memory=4Gi.")
	flags.StringToStringVar(&c.limits, "limits", nil, "Resource limits, e.g. memory=4Gi.")
	c.numbers = map[string]*int64{}
	for _, n := range numberFlags {
		c.numbers[n.flag] = flags.Int64(n.flag, 0, n.usage)
	}
	flags.StringVarP(&c.patch, "patch", "p", "", "Strategic merge patch of the Job, JSON or YAML.")
	flags.StringVar(&c.patchFile, "patch-file", "", "File with such a patch, - for stdin.")
	flags.BoolVar(&c.edit, "edit", false, "Edit the Job before it is created.\nThe editor is KUBE_EDITOR or EDITOR.")
}

// validate checks the flags; its errors are usage errors.
func (c *changes) validate(flags *pflag.FlagSet) error {
	for _, n := range numberFlags {
		if !flags.Changed(n.flag) {
			delete(c.numbers, n.flag)
		} else if *c.numbers[n.flag] < 0 {
			return cmdutil.UsageErrorf("--%s=%d: use 0 or more", n.flag, *c.numbers[n.flag])
		}
	}
	if c.patch != "" && c.patchFile != "" {
		return cmdutil.UsageErrorf("--patch and --patch-file exclude each other")
	}
	for _, env := range c.env {
		if name, _, set := strings.Cut(env, "="); name == "" || !set && !strings.HasSuffix(env, "-") {
			return cmdutil.UsageErrorf("--set-env=%s: use NAME=VALUE, or NAME- to remove it", env)
		}
	}
	for flag, quantities := range map[string]map[string]string{"requests": c.requests, "limits": c.limits} {
		for name, quantity := range quantities {
			if _, err := resource.ParseQuantity(quantity); err != nil {
				return cmdutil.UsageErrorf("--%s: %s=%s is not a quantity such as 2, 500m or 4Gi", flag, name, quantity)
			}
		}
	}
	return nil
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
	if err := c.setContainers(job); err != nil {
		return err
	}
	for _, n := range numberFlags {
		if value := c.numbers[n.flag]; value != nil {
			if err := unstructured.SetNestedField(job.Object, *value, "spec", n.field); err != nil {
				return err
			}
		}
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

// setContainers changes images, environments and resources.
func (c *changes) setContainers(job *unstructured.Unstructured) error {
	images := map[string]string{}
	for _, text := range c.images {
		container, image, named := strings.Cut(text, "=")
		if !named {
			container, image = c.container, text
		}
		images[container] = image
	}
	used := map[string]bool{}
	for _, list := range []string{"initContainers", "containers"} {
		path := []string{"spec", "template", "spec", list}
		containers, _, err := unstructured.NestedSlice(job.Object, path...)
		if err != nil || containers == nil {
			continue
		}
		for _, item := range containers {
			if container, ok := item.(map[string]any); ok {
				c.setContainer(container, list == "containers", images, used)
			}
		}
		if err := unstructured.SetNestedSlice(job.Object, containers, path...); err != nil {
			return err
		}
	}
	for _, name := range slices.AppendSeq([]string{c.container}, maps.Keys(images)) {
		if name == "" || used[name] {
			continue
		}
		typed, err := cmdutil.ToJob(job)
		if err != nil {
			return err
		}
		return cmdutil.UsageErrorf("the Job has no container %q; it has: %s", name, strings.Join(cmdutil.TemplateContainers(typed), ", "))
	}
	return nil
}

// setContainer changes one container, and records by which name it was selected. Without a name, flags apply to all
// regular containers.
func (c *changes) setContainer(container map[string]any, regular bool, images map[string]string, used map[string]bool) {
	name, _ := container["name"].(string)
	meant := func(asked string) bool { return asked == name || asked == "" && regular }
	for asked, image := range images {
		if _, own := images[name]; meant(asked) && (asked == name || !own) {
			container["image"], used[asked] = image, true
		}
	}
	if meant(c.container) {
		used[c.container] = true
		for kind, quantities := range map[string]map[string]string{"requests": c.requests, "limits": c.limits} {
			for name, quantity := range quantities {
				_ = unstructured.SetNestedField(container, quantity, "resources", kind, name) // resources is always an object
			}
		}
		c.setEnv(container)
	}
}

// setEnv changes the environment of a container.
func (c *changes) setEnv(container map[string]any) {
	for _, text := range c.env {
		name, value, set := strings.Cut(text, "=")
		if !set {
			name = strings.TrimSuffix(name, "-")
		}
		env, _ := container["env"].([]any)
		env = slices.DeleteFunc(env, func(item any) bool {
			variable, _ := item.(map[string]any)
			return variable["name"] == name
		})
		if set {
			env = append(env, map[string]any{"name": name, "value": value})
		}
		container["env"] = env
	}
}
