package endings

import (
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// FindOutlived returns the first pod that was kept running until the deadline of the Job by containers other than the one that
// had ended, as pods and events show; nil if there is none.
func FindOutlived(in *facts.Facts) *explain.Outlived {
	if in.Decision.EndedBy != explain.EndedByDeadline {
		return nil
	}
	known := map[string]bool{"": true} // no pod means the Job
	for _, p := range in.Pods {
		known[p.Name] = true
		if o := outlivedPod(in, p); o != nil {
			return o
		}
	}
	return outlivedGonePod(in, known)
}

// outlivedPod checks a pod that exists.
func outlivedPod(in *facts.Facts, p *input.Pod) *explain.Outlived {
	if !p.Deleting || p.DeletedAt.Before(in.Decision.Since) {
		return nil
	}
	o := &explain.Outlived{Pod: p.Name}
	for i := range p.Containers {
		c := &p.Containers[i]
		switch {
		case c.Init || !c.Ended || c.Before || c.EndedAt.IsZero(): // It has not ended for good.
		case !c.EndedAt.Before(p.DeletedAt):
			o.Running = append(o.Running, c.Name)
		case o.Exit == nil && !facts.IsStopped(c) && !in.OnlyServes(c.Name):
			o.Ended, o.Exit = c.Name, ptr.To(facts.ExitOf(c))
		}
	}
	o.Running = append(o.Running, p.Lineup.Running()...)
	if o.Exit == nil || len(o.Running) == 0 {
		return nil
	}
	return o
}

// outlivedGonePod finds such a pod from events alone. A kubelet reports each container that it stops: a container without
// that event had ended.
func outlivedGonePod(in *facts.Facts, known map[string]bool) *explain.Outlived {
	if !in.PodsRead || !in.EventsRead {
		return nil
	}

	// The stopped containers by pod, and the pods in the order of time. Native sidecars are left out, as they keep no pod running.
	stopped := map[string][]string{}
	var pods []string
	for _, e := range stoppedAtDeadline(in) {
		if known[e.Pod] || in.IsInit(e.container) {
			continue
		}
		if stopped[e.Pod] == nil {
			pods = append(pods, e.Pod)
		}
		stopped[e.Pod] = append(stopped[e.Pod], e.container)
	}
	for _, pod := range pods {
		for i := range in.Spec.Template.Spec.Containers {
			if name := in.Spec.Template.Spec.Containers[i].Name; !slices.Contains(stopped[pod], name) && !in.OnlyServes(name) {
				return &explain.Outlived{Pod: pod, Ended: name, Running: stopped[pod]}
			}
		}
	}
	return nil
}

// StoppedContainer returns the container of a kubelet's event Killing about a container that does not start again. It reports
// whether the event is one.
func StoppedContainer(e *input.Event) (container string, is bool) {
	container, is = strings.CutPrefix(e.Message, "Stopping container ")
	return container, is && e.Reason == "Killing"
}

// stop is the end of a container that a kubelet stopped.
type stop struct {
	*input.Event
	container string
}

// stoppedAtDeadline returns the containers that kubelets stopped at the deadline of the Job, in the order of time.
func stoppedAtDeadline(in *facts.Facts) (all []stop) {
	for i := range in.Events {
		e := &in.Events[i]
		if name, is := StoppedContainer(e); is && in.StopReason(e.Last) == explain.StoppedAtDeadline {
			all = append(all, stop{e, name})
		}
	}
	return all
}

// FindCutShort returns the container of the Job's template that had run longest when it was stopped at the deadline of the
// Job, as events show; nil if they do not.
func FindCutShort(in *facts.Facts) (longest *explain.CutShort) {
	if in.Decision.EndedBy != explain.EndedByDeadline {
		return nil
	}
	type run struct{ pod, container string }
	began := map[run]time.Time{} // the first start
	for i := range in.Events {
		e := &in.Events[i]
		of := run{e.Pod, e.Container}
		if at, known := began[of]; e.Reason == "Started" && (!known || e.Last.Before(at)) {
			began[of] = e.Last
		}
	}
	pods := map[string]bool{}
	for _, e := range stoppedAtDeadline(in) {
		name := e.container
		pods[e.Pod] = true
		if in.OnlyServes(name) || in.IsSidecar(&input.Container{Name: name, Init: in.IsInit(name)}) {
			continue
		}
		start, known := began[run{e.Pod, name}]
		if !known || start.After(e.Last) {
			continue
		}
		if ran := int64(e.Last.Sub(start).Seconds()); longest == nil || ran > longest.RanSeconds {
			longest = &explain.CutShort{Pod: e.Pod, Container: name, RanSeconds: ran}
		}
	}
	if longest != nil {
		longest.Pods = int32(len(pods))
	}
	return longest
}
