package retry

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
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
			container, ok := item.(map[string]any)
			if !ok {
				continue
			}
			name, _ := container["name"].(string)
			if image, ok := images[name]; ok {
				container["image"], used[name] = image, true
			} else if image, ok := images[""]; ok && list == "containers" {
				container["image"], used[""] = image, true
			}
			if c.container == name || c.container == "" && list == "containers" {
				used[c.container] = true
				c.setContainer(container)
			}
		}
		if err := unstructured.SetNestedSlice(job.Object, containers, path...); err != nil {
			return err
		}
	}
	return c.unused(job, images, used)
}

// unused is the error for a container that does not exist.
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

// setContainer changes the environment and the resources of one container.
func (c *changes) setContainer(container map[string]any) {
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
	for kind, quantities := range map[string]map[string]string{"requests": c.requests, "limits": c.limits} {
		for name, quantity := range quantities {
			_ = unstructured.SetNestedField(container, quantity, "resources", kind, name) // resources is an object.
		}
	}
}
