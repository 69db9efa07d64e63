package podproblems

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// Terminating finds pods that do not end, and pods that delay others while they terminate. Each node that is gone is a problem of its
// own.
func Terminating(in *facts.Facts) []explain.Problem {
	waits := in.Plan.Findings.WaitTerminating > 0
	var out []explain.Problem
	for _, pod := range in.Terminating {
		kind := terminatingKind(in, pod, waits)
		if kind == "" {
			continue
		}
		p := lists.First(out, func(p *explain.Problem) bool {
			return p.Kind == kind && (kind != explain.ProblemNodeGone || p.Node == pod.Node)
		})
		if p == nil {
			out = append(out, explain.Problem{Kind: kind, Blocks: true, MayContinue: kind == explain.ProblemTerminatingHolds, Deletion: explain.Deletion{Holds: holds(in)}})
			p = &out[len(out)-1]
		}
		switch {
		case kind == explain.ProblemNodeGone:
			p.Node, p.Start.Reason = pod.Node, cmp.Or(in.GoneNodes[pod.Node], words.NodeLost)
		case kind != explain.ProblemTerminatingStuck:
		case len(p.Pods) > 0 && p.Node != pod.Node: // What one kubelet reports need not be so on other nodes.
			p.Node, p.Deletion.Trouble, p.Details = "", nil, nil
		case p.Deletion.Trouble == nil:
			p.Node = pod.Node
			addStop(in, p, pod)
		}
		p.AddPod(pod.Name)
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(pod.DeletedAt)
		}
	}
	order := []explain.ProblemKind{explain.ProblemNodeGone, explain.ProblemTerminatingStuck, explain.ProblemTerminatingHolds}
	slices.SortStableFunc(out, func(x, y explain.Problem) int { return slices.Index(order, x.Kind) - slices.Index(order, y.Kind) })
	return out
}

// addStop adds why the kubelet cannot end the pod, from the last event about that, unless it is old.
func addStop(in *facts.Facts, p *explain.Problem, pod *input.Pod) {
	for i := len(in.Events) - 1; i >= 0; i-- { // In the order of time.
		e := &in.Events[i]
		if e.Pod != pod.Name || in.Now.Sub(e.Last) >= stillTried {
			continue
		}
		if t := meaning.OfStop(e.Reason, e.Message); t != nil {
			p.Node, p.Deletion.Trouble, p.Details = pod.Node, t, []string{e.Message}
			return
		}
	}
}

// terminatingKind returns the problem of a terminating pod, "" if there is none: the pod is in its grace period, and no
// replacement waits for it.
func terminatingKind(in *facts.Facts, pod *input.Pod, waits bool) explain.ProblemKind {
	late := in.Now.Sub(pod.DeletedAt.Add(pod.Grace)) > facts.Slack
	_, away := in.GoneNodes[pod.Node]
	switch {
	case away && pod.Node != "", late && pod.StatusReason == "NodeLost":
		return explain.ProblemNodeGone
	case late:
		return explain.ProblemTerminatingStuck
	case waits:
		return explain.ProblemTerminatingHolds
	}
	return ""
}

// holds returns what waits for terminating pods.
func holds(in *facts.Facts) explain.Holds {
	switch {
	case in.Decision.Decided():
		return explain.HoldsEnd
	case in.Plan.Findings.WaitTerminating > 0:
		return explain.HoldsReplacement
	}
	return explain.HoldsNothing
}

// ForeignFinalizers finds ended pods that other controllers' finalizers keep from being removed.
func ForeignFinalizers(in *facts.Facts) []explain.Problem {
	p := explain.Problem{Kind: explain.ProblemForeignFinalizer}
	for _, pod := range in.Terminal {
		if !pod.Deleting || len(pod.ForeignFinalizers) == 0 {
			continue
		}
		p.AddPod(pod.Name)
		for _, f := range pod.ForeignFinalizers {
			if !slices.Contains(p.Deletion.Finalizers, f) {
				p.Deletion.Finalizers = append(p.Deletion.Finalizers, f)
			}
		}
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(pod.DeletedAt)
		}
	}
	if p.Count == 0 {
		return nil
	}
	return []explain.Problem{p}
}

// ProcessesOOMKilled finds pods that succeeded although the kernel killed a process for lack of memory: one that the
// container's main process ignored, or one of a sidecar.
func ProcessesOOMKilled(in *facts.Facts) []explain.Problem {
	type key struct {
		cause.Exit
		limit input.MemoryLimit
	}
	var found byKey[key]
	for _, pod := range in.Pods {
		if pod.Phase != corev1.PodSucceeded {
			continue
		}
		killed := lists.First(pod.Containers, func(c *input.Container) bool {
			return c.Reason == cause.OOMKilled && (!c.Before || in.IsSidecar(c)) // The work that a sidecar missed is not repeated.
		})
		if killed == nil {
			continue
		}
		p := processOOMKilled(in, killed)
		found.add(key{*p.Run.Exit, in.MemoryLimit(killed)}, pod.Name, &p)
	}
	return found.mostFrequentFirst()
}

func processOOMKilled(in *facts.Facts, c *input.Container) explain.Problem {
	p := explain.Problem{
		Kind: explain.ProblemProcessOOMKilled, Since: explain.TimeOf(c.EndedAt), Container: c.Name, Image: in.Image(c), Role: explain.Role{Sidecar: c.Init},
		Run: explain.Run{Exit: &cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}, MemoryLimit: facts.LimitOfKilled(in, c)},
	}
	if c.Before {
		p.Run.Restarts = c.Restarts
	}
	return p
}

// heldByOOM returns the problem of a pending pod whose init container ended with 0 although the kernel killed a process in it; else
// nil. The kubelet takes that for a failure and starts no other container, and its exit code for a success and does not end the pod.
func heldByOOM(in *facts.Facts, pod *input.Pod) *explain.Problem {
	if pod.Phase != corev1.PodPending || in.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil
	}
	killed := lists.First(pod.Containers, func(c *input.Container) bool {
		return c.Init && c.Ended && !c.Before && c.ExitCode == 0 && c.Reason == cause.OOMKilled && !c.EndedAt.IsZero() && in.Now.Sub(c.EndedAt) >= endSlack
	})
	if killed == nil || slices.ContainsFunc(pod.Lineup, func(m input.Member) bool { return m.Running && !m.Sidecar }) {
		return nil
	}
	p := processOOMKilled(in, killed)
	p.Blocks, p.Role.Later = true, in.MainContainers()
	return &p
}

// ContainersRetried finds init containers and sidecars that failed and were restarted in pods that succeeded, which the
// Job's status does not show. An OOMKilled sidecar is another problem.
func ContainersRetried(in *facts.Facts) []explain.Problem {
	var found byKey[cause.Exit]
	for _, pod := range in.Pods {
		if pod.Phase != corev1.PodSucceeded {
			continue
		}
		for i := range pod.Containers {
			c := &pod.Containers[i]
			sidecar := in.IsSidecar(c)
			if !c.Init || !c.Before || c.ExitCode == 0 || sidecar && c.Reason == cause.OOMKilled {
				continue
			}
			exit := cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
			found.add(exit, pod.Name, &explain.Problem{
				Kind: explain.ProblemContainerRetried, Since: explain.TimeOf(c.EndedAt), Container: c.Name, Run: explain.Run{Exit: &exit, Restarts: c.Restarts}, Role: explain.Role{Sidecar: sidecar},
			})
		}
	}
	return found.mostFrequentFirst()
}

const (
	// leastProbes is the number of probes that a stopped container must have failed: one that has just ended may fail one or two.
	leastProbes = 3
	// stillProbed is how old the last of them may be. The kubelet limits how often it reports them.
	stillProbed = 10 * time.Minute
)

// StoppedContainers finds containers whose status says that they run, but whose probes fail because they have stopped: the kubelet
// or the container runtime has lost track of them.
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
