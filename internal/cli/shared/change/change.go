// Package change changes the copy of a Job as flags say, for the verbs that make one.
package change

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// Flags are the differences of a copy from its Job.
type Flags struct {
	container        string
	images           []string
	env              []string
	requests, limits map[string]string
	fields           []Number
	numbers          map[string]*int64 // by flag; only flags that were given
}

// Number is a flag that sets a number of the spec.
type Number struct{ Flag, Field, Usage string }

// AddTo adds the flags and a flag for each number to a command.
func (c *Flags) AddTo(cmd *cobra.Command, numbers ...Number) {
	flags := cmd.Flags()
	flags.StringVarP(&c.container, "container", "c", "", "Container to change; by default all of them.\nIt is for --image, --set-env, --requests and --limits.")
	flags.StringArrayVar(&c.images, "image", nil, "[CONTAINER=]IMAGE to run instead.\nIt may be repeated.")
	flags.StringArrayVar(&c.env, "set-env", nil, "Set NAME=VALUE, or remove NAME-.\nThey are variables of the environment.\nIt may be repeated.")
	flags.StringToStringVar(&c.requests, "requests", nil, "Resource requests, e.g. cpu=2,memory=4Gi.")
	flags.StringToStringVar(&c.limits, "limits", nil, "Resource limits, e.g. memory=4Gi.")
	c.fields, c.numbers = numbers, map[string]*int64{}
	for _, n := range numbers {
		c.numbers[n.Flag] = flags.Int64(n.Flag, 0, n.Usage)
	}
}

// Validate checks the flags; its errors are usage errors.
func (c *Flags) Validate(flags *pflag.FlagSet) error {
	for _, n := range c.fields {
		if !flags.Changed(n.Flag) {
			delete(c.numbers, n.Flag)
		} else if *c.numbers[n.Flag] < 0 {
			return cmdutil.UsageErrorf("--%s=%d: use 0 or more", n.Flag, *c.numbers[n.Flag])
		}
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

// Apply changes the Job.
func (c *Flags) Apply(job *unstructured.Unstructured) error {
	if err := c.setContainers(job); err != nil {
		return err
	}
	for _, n := range c.fields {
		if value := c.numbers[n.Flag]; value != nil {
			if err := unstructured.SetNestedField(job.Object, *value, "spec", n.Field); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetsMemory reports whether the flags set a limit or a request of memory.
func (c *Flags) SetsMemory() bool {
	_, limit := c.limits[string(corev1.ResourceMemory)]
	_, request := c.requests[string(corev1.ResourceMemory)]
	return limit || request
}

// Container returns the container that the flags choose, "" for all.
func (c *Flags) Container() string { return c.container }

// setContainers changes images, environments and resources.
func (c *Flags) setContainers(job *unstructured.Unstructured) error {
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
func (c *Flags) setContainer(container map[string]any, regular bool, images map[string]string, used map[string]bool) {
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
func (c *Flags) setEnv(container map[string]any) {
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
