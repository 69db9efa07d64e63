package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// endSlack is how long the other containers of a pod may take to end when one has failed.
const endSlack = 30 * time.Second

// failedWithin is the container of an active pod that failed, and that is not restarted, while
// others still run; nil if there is none, or if it has just ended. No controller sees it: a pod
// has failed when all its containers have ended.
func (a *analysis) failedWithin(p *Pod) *Container {
	if len(p.Running) == 0 || a.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil
	}
	i := slices.IndexFunc(p.Containers, func(c Container) bool {
		failed := c.Ended && !c.Before && !c.Init && c.ExitCode != 0
		return failed && !c.EndedAt.IsZero() && a.Now.Sub(c.EndedAt) >= endSlack
	})
	if i < 0 {
		return nil
	}
	return &p.Containers[i]
}

// failedContainers: pods of which a container has failed, and that do not end as another of
// their containers goes on, as a proxy does.
func (a *analysis) failedContainers() []Problem {
	if a.fate.decided() || a.job.DeletionTimestamp != nil || jobspec.IsSuspended(a.spec) {
		return nil // All pods are on their way out.
	}
	type key struct {
		cause.Exit
		running string
	}
	found := map[key]*Problem{}
	var order []*Problem
	for _, pod := range a.active {
		c := a.failedWithin(pod)
		if c == nil || !a.inFocus(pod) {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		k := key{exit, strings.Join(pod.Running, ",")}
		p := found[k]
		if p == nil {
			p = &Problem{Kind: ProblemContainerFailed, Blocks: true, Since: timeOf(c.EndedAt), Details: lines(c.Message), Exit: &exit, Container: c.Name, Running: pod.Running}
			found[k] = p
			order = append(order, p)
		}
		p.add(pod.Name)
		if c.EndedAt.Before(p.Since.Time) {
			p.Since = timeOf(c.EndedAt)
		}
	}
	slices.SortStableFunc(order, func(x, y *Problem) int { return cmp.Compare(y.Count, x.Count) })
	out := make([]Problem, 0, len(order))
	for _, p := range order {
		out = append(out, *p)
	}
	return out
}

// containersText is "container proxy", or "containers proxy and logs".
func containersText(names []string) string {
	return plural(len(names), "container ", "containers ") + enumerate(names, "and")
}

// adviceOnFailedWithin is about the first of the pods.
func (a *analysis) adviceOnFailedWithin(p *Problem) []Advice {
	i := slices.IndexFunc(a.active, func(pod *Pod) bool { return pod.Name == p.Pods[0] })
	if i < 0 {
		return nil
	}
	pod := a.active[i]
	c := a.failedWithin(pod)
	sidecars := plural(len(pod.Running), "it as a native sidecar (an init container", "them as native sidecars (init containers")
	out := []Advice{{Text: fmt.Sprintf("if %s only serves container %s, let it end with that, or create the Job anew with %s with restartPolicy Always): those keep no pod from ending",
		containersText(pod.Running), c.Name, sidecars)}}
	if c.NeverStarted() {
		return append(out, Advice{Text: a.startRemedy(c)})
	}
	return append(out, Advice{"read the log of container " + c.Name, a.kubectl("logs %s -c %s", shellWord(pod.Name), shellWord(c.Name))})
}
