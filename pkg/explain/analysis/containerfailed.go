package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// endSlack is how long the other containers of a pod may take to end when one has failed.
const endSlack = 30 * time.Second

// failedWithin is the container of an active pod that failed, and that is not restarted, while
// others still run; nil if there is none, or if it has just ended. No controller sees it: a pod
// has failed when all its containers have ended.
func (a *analysis) failedWithin(p *explain.Pod) *explain.Container {
	if len(p.Running) == 0 || a.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil
	}
	i := slices.IndexFunc(p.Containers, func(c explain.Container) bool {
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
func (a *analysis) failedContainers() []explain.Problem {
	if a.fate.decided() || a.job.DeletionTimestamp != nil || jobspec.IsSuspended(a.spec) {
		return nil // All pods are on their way out.
	}
	type key struct {
		cause.Exit
		running string
	}
	found := map[key]*explain.Problem{}
	var order []*explain.Problem
	for _, pod := range a.active {
		c := a.failedWithin(pod)
		if c == nil || !a.inFocus(pod) {
			continue
		}
		exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		k := key{exit, strings.Join(pod.Running, ",")}
		p := found[k]
		if p == nil {
			p = &explain.Problem{Kind: explain.ProblemContainerFailed, Blocks: true, Since: explain.TimeOf(c.EndedAt), Details: lines(c.Message), Exit: &exit, Container: c.Name, Running: pod.Running}
			found[k] = p
			order = append(order, p)
		}
		addPod(p, pod.Name)
		if c.EndedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(c.EndedAt)
		}
	}
	slices.SortStableFunc(order, func(x, y *explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	out := make([]explain.Problem, 0, len(order))
	for _, p := range order {
		out = append(out, *p)
	}
	return out
}

// adviceOnFailedWithin is about the first of the pods.
func (a *analysis) adviceOnFailedWithin(p *explain.Problem) []explain.Advice {
	i := slices.IndexFunc(a.active, func(pod *explain.Pod) bool { return pod.Name == p.Pods[0] })
	if i < 0 {
		return nil
	}
	pod := a.active[i]
	c := a.failedWithin(pod)
	sidecars := words.Plural(len(pod.Running), "it as a native sidecar (an init container", "them as native sidecars (init containers")
	out := []explain.Advice{{Text: fmt.Sprintf("if %s only serves container %s, let it end with that, or create the Job anew with %s with restartPolicy Always): those keep no pod from ending",
		words.ContainersText(pod.Running), c.Name, sidecars)}}
	if c.NeverStarted() {
		return append(out, explain.Advice{Text: a.startRemedy(c)})
	}
	return append(out, advise("read the log of container "+c.Name, a.kubectl("logs %s -c %s", shellWord(pod.Name), shellWord(c.Name))))
}
