package analysis

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// startRemedy is what the runtime's message asks for, if it could not start the container.
func (a *analysis) startRemedy(c *explain.Container) string {
	said := strings.ToLower(c.Message)
	of := func(fragments ...string) bool {
		for _, f := range fragments {
			if !strings.Contains(said, f) {
				return false
			}
		}
		return true
	}
	switch {
	case of("executable file", "not found"), of(`exec: "`, "no such file or directory"):
		return a.remedyOfCode(c, 127)
	case of(`exec: "`, "permission denied"), of("exec format error"):
		return a.remedyOfCode(c, 126)
	}
	return fmt.Sprintf("fix what the container runtime reports about container %s; it never started, so it has no log", c.Name)
}

// remedy is what an exit code or reason asks for.
func (a *analysis) remedy(c *explain.Container) string {
	if c.Reason != "OOMKilled" {
		return a.remedyOfCode(c, c.ExitCode)
	}
	if limit, known := a.memoryLimit(c.Name); known {
		return fmt.Sprintf("raise the memory limit of container %s, which is %s, or make it use less memory", c.Name, limit.String())
	}
	return fmt.Sprintf("give container %s a memory request that the node can satisfy; it has no memory limit of its own", c.Name)
}

// remedyOfCode is what an exit code asks for, by the convention of shells.
func (a *analysis) remedyOfCode(c *explain.Container, code int32) string {
	switch code {
	case 127:
		return fmt.Sprintf("fix the command of container %s, or use an image that contains it (image %s)", c.Name, a.image(c.Name))
	case 126:
		return fmt.Sprintf("make the command of container %s executable for the container's user and the node's architecture (image %s)", c.Name, a.image(c.Name))
	case 143, 137:
		return fmt.Sprintf("find out what stopped container %s: a deletion, an eviction, a liveness probe, or a node that shut down or ran low on memory", c.Name)
	}
	return ""
}

func (a *analysis) memoryLimit(container string) (limit resource.Quantity, known bool) {
	for _, list := range [][]corev1.Container{a.spec.Template.Spec.Containers, a.spec.Template.Spec.InitContainers} {
		for i := range list {
			if memory, ok := list[i].Resources.Limits[corev1.ResourceMemory]; ok && list[i].Name == container {
				return memory.DeepCopy(), true
			}
		}
	}
	return limit, false
}
