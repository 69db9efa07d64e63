package facts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// proxies are the usual names of containers that serve other containers until they are stopped.
var proxies = []string{
	"istio-proxy", "linkerd-proxy", "cloudsql-proxy", "cloud-sql-proxy", "alloydb-auth-proxy", "consul-dataplane", "daprd", "vault-agent",
	"consul-connect-envoy-sidecar", "consul-connect-lifecycle-sidecar", "datadog-agent-injected",
}

// Devices returns the devices in the limits of a container of the Job's template, such as "nvidia.com/gpu: 1", and its claims of devices.
func Devices(in *Facts, name string) (all []string) {
	c := in.TemplateContainer(name)
	if c == nil {
		return nil
	}
	for resource, quantity := range c.Resources.Limits {
		if strings.Contains(string(resource), "/") && !quantity.IsZero() {
			all = append(all, string(resource)+": "+quantity.String())
		}
	}
	slices.Sort(all)
	for i := range c.Resources.Claims {
		all = append(all, "resource claim "+c.Resources.Claims[i].Name)
	}
	return all
}

// IsInjected reports whether a container of a pod is not in the Job's template: admission may have added it to the pod.
func (in *Facts) IsInjected(container string) bool { return in.TemplateContainer(container) == nil }

// part matches a name, or an index or a key in brackets, in the path of a field.
var part = lazyregexp.New(`\[[^\]]*\]|[^.\[\]]+`)

// HasField reports whether a pod template may have the field of a pod, such as spec.initContainers[1].lifecycle: the elements of
// lists, and the fields of an element. Other fields may have a default.
func HasField(of *corev1.PodTemplateSpec, path string) bool {
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		return true
	}
	at, ofElement := any(template), false
	for _, place := range part.FindAllStringIndex(path, -1) {
		name := path[place[0]:place[1]]
		switch v := at.(type) {
		case []any:
			i, err := strconv.Atoi(strings.Trim(name, "[]"))
			if err != nil || i < 0 || i >= len(v) {
				return err != nil
			}
			at, ofElement = v[i], true
		case map[string]any:
			next, found := v[strings.Trim(name, "[]")]
			if !found {
				isList := strings.Contains(path, name+"[") // An empty list has no element.
				return !ofElement && !isList
			}
			at, ofElement = next, false
		default:
			return true
		}
	}
	return true
}

// OnlyServes reports whether a container has no work of its own: it was injected, or is a well-known proxy.
func (in *Facts) OnlyServes(container string) bool {
	return in.IsInjected(container) || slices.Contains(proxies, container)
}

// IsInit reports whether a container of the Job's template is an init container or a native sidecar.
func (in *Facts) IsInit(container string) bool {
	return slices.ContainsFunc(in.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == container })
}

// MainContainers returns the names of the containers in the Job's template that start after the init containers.
func (in *Facts) MainContainers() []string {
	names := make([]string, len(in.Spec.Template.Spec.Containers))
	for i := range names {
		names[i] = in.Spec.Template.Spec.Containers[i].Name
	}
	return names
}

// IsSidecar reports whether a container of a pod is a native sidecar of the Job's template.
func (in *Facts) IsSidecar(c *input.Container) bool {
	t := in.TemplateContainer(c.Name)
	return c.Init && t != nil && t.RestartPolicy != nil && *t.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// RestartedBy returns the field that makes the kubelet restart a container that failed, "" if it is unknown.
func (in *Facts) RestartedBy(failed *input.Container, sidecar bool) explain.RestartedBy {
	c := in.TemplateContainer(failed.Name)
	matches := func(r corev1.ContainerRestartRule) bool {
		return r.ExitCodes != nil && slices.Contains(r.ExitCodes.Values, failed.ExitCode) == (r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
	}
	switch {
	case sidecar:
		return explain.RestartedBySidecar
	case c != nil && len(c.RestartPolicyRules) > 0 && (!failed.Ended || slices.ContainsFunc(c.RestartPolicyRules, matches)):
		return explain.RestartedByRules
	case c != nil && c.RestartPolicy != nil && *c.RestartPolicy != corev1.ContainerRestartPolicyNever:
		return explain.RestartedByContainer
	case c != nil && c.RestartPolicy != nil:
		return ""
	case in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return explain.RestartedByPod
	}
	return ""
}

// NeedsContainerName reports whether a command about the pod has to name a container.
func (in *Facts) NeedsContainerName(p *input.Pod) bool {
	if in.HasSeveralContainers() || len(p.Lineup) > 1 {
		return true
	}
	return slices.ContainsFunc(p.Containers, func(c input.Container) bool { return c.Name != p.Containers[0].Name })
}

// ExitOf returns the exit of a container.
func ExitOf(c *input.Container) cause.Exit {
	return cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: cause.Specific(c.Reason)}
}

// EndErrorIn returns the error in the termination message of a container that ended.
func EndErrorIn(c *input.Container) *meaning.KnownError {
	if cause.NeverRan(c.Reason) {
		return meaning.StartErrorIn(c.Message)
	}
	return meaning.KnownErrorIn(c.ExitCode, c.Message)
}

// settled is how long a restarted container has to run until its failures are over, the same time as in the kubelet.
const settled = 10 * time.Minute

// atLeast is how long a restarted container has to run until it may work, however short its last run was.
const atLeast = 30 * time.Second

// CrashLoop returns the first container of an active pod that fails and is restarted, again and again, or nil.
func (in *Facts) CrashLoop(p *input.Pod) *input.Container {
	return lists.First(p.Containers, in.FailsRepeatedly)
}

// OtherLoops returns the other containers of an active pod that fail and are restarted, again and again, and have ended before.
func OtherLoops(in *Facts, p *input.Pod, first *input.Container) (out []*input.Container) {
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Name != first.Name && c.Ended && c.ExitCode != 0 && in.FailsRepeatedly(c) {
			out = append(out, c)
		}
	}
	return out
}

// Restarted returns the first container of an active pod that failed and runs again, unless it is in a crash loop, or nil.
func (in *Facts) Restarted(p *input.Pod) *input.Container {
	return lists.First(p.Containers, func(c *input.Container) bool {
		return c.Running && c.Before && c.ExitCode != 0 && c.Restarts > 0 && !in.FailsRepeatedly(c)
	})
}

// FailsRepeatedly reports whether a container of an active pod is in a crash loop. A crash loop lasts while the container
// waits for its next restart, while it runs again for no longer than before, and after it has failed once more.
func (in *Facts) FailsRepeatedly(c *input.Container) bool {
	switch {
	case c.Waiting == explain.CrashLoopBackOff:
		return true
	case !c.Ended || c.ExitCode == 0 || c.Restarts == 0:
		return false
	case c.Before:
		// It may work this time if it has run for longer than before.
		ran := c.EndedAt.Sub(c.StartedAt)
		return c.Running && ran < settled && in.Now.Sub(c.RunsSince) <= max(atLeast, min(2*ran, settled))
	}
	// Kubernetes 1.37 reports the last end until the next restart. A container with restartPolicyRules may have ended for good.
	by := in.RestartedBy(c, in.IsSidecar(c))
	return by != "" && by != explain.RestartedByRules && in.Now.Sub(c.EndedAt) < settled
}

// MemoryLimit returns the memory limit of a pod's container, or else of the container in the Job's template. Its Value is
// "" if there is none, or if it is unknown.
func (in *Facts) MemoryLimit(c *input.Container) input.MemoryLimit {
	template, of, limit := "", in.TemplateContainer(c.Name), c.Memory
	if of != nil {
		if memory, ok := of.Resources.Limits[corev1.ResourceMemory]; ok {
			template = memory.String()
		}
	}
	switch {
	case template == "" || limit.From == input.LimitOfAllOfPod:
		return limit
	case limit.Value == "" || limit.Value == template:
		return input.MemoryLimit{Value: template, From: input.LimitOfTemplate}
	}
	limit.Template = template
	return limit
}

// LimitOfKilled returns the memory limit of a container that ran out of memory, nil for others, or if it is unknown.
func LimitOfKilled(in *Facts, c *input.Container) *input.MemoryLimit {
	limit := in.MemoryLimit(c)
	switch {
	case c.Reason != cause.OOMKilled, limit.Value == "" && c.Image == "":
		return nil
	case limit.Value == "":
		limit.From = input.LimitOfNode
	}
	return &limit
}
