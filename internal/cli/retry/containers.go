package retry

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

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
	return c.unused(job, images, used)
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
		c.setEnv(container)
		c.setResources(container)
	}
}

// unused returns an error for a named container that does not exist.
func (c *changes) unused(job *unstructured.Unstructured, images map[string]string, used map[string]bool) error {
	wanted := []string{c.container}
	for name := range images {
		wanted = append(wanted, name)
	}
	for _, name := range wanted {
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

// setResources changes the resources of a container.
func (c *changes) setResources(container map[string]any) {
	for kind, quantities := range map[string]map[string]string{"requests": c.requests, "limits": c.limits} {
		for name, quantity := range quantities {
			_ = unstructured.SetNestedField(container, quantity, "resources", kind, name) // resources is always an object
		}
	}
}
