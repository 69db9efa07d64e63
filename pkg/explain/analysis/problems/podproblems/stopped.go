package podproblems

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

const (
	// leastProbes is the number of probes that a stopped container must have failed: one that has just ended may fail one or two.
	leastProbes = 3
	// stillProbed is how old the last of them may be. The kubelet limits how often it reports them.
	stillProbed = 10 * time.Minute
)

// StoppedContainers finds containers that have stopped, by the errors of their probes, while their status says that they run: the
// kubelet or the container runtime has lost track of them.
func StoppedContainers(in *facts.Facts) []explain.Problem {
	type place struct{ pod, container string }
	var probes byKey[place]
	failed := map[place]int32{}
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		if !meaning.IsProbedInVain(e.Reason, e.Message) || in.Now.Sub(e.Last) > stillProbed {
			continue
		}
		at := place{e.Pod, e.Container}
		if failed[at] += max(e.Count, 1); failed[at] < leastProbes || !seemsToRun(in, e) {
			continue
		}
		if _, known := probes.places[at]; !known {
			probes.add(at, e.Pod, &explain.Problem{
				Kind: explain.ProblemContainerStopped, Blocks: true, Since: explain.TimeOf(e.Began()), Container: e.Container,
				Node: input.PodNamed(in.Active, e.Pod).Node, Details: []string{e.Message},
			})
		}
	}
	var found byKey[string]
	for i := range probes.all {
		p := probes.all[i]
		pod := p.Pods[0]
		p.Pods, p.Count = nil, 0
		found.add(p.Container, pod, &p)
	}
	return found.mostFrequentFirst()
}

// seemsToRun reports whether the container of an event runs by the status of its pod, since before the event.
func seemsToRun(in *facts.Facts, e *input.Event) bool {
	pod := input.PodNamed(in.Active, e.Pod)
	if pod == nil || pod.Phase != corev1.PodRunning {
		return false
	}
	c := lists.First(pod.Containers, func(c *input.Container) bool { return c.Name == e.Container })
	return c == nil || c.Running && c.RunsSince.Before(e.Began()) // A container that is not listed has been running since its start.
}
