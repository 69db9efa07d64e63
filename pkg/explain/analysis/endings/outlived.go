package endings

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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

	// The containers that kubelets stopped at the deadline of the Job, by pod, and the pods in the order of time. Native sidecars
	// are left out, as they keep no pod running.
	stopped := map[string][]string{}
	var pods []string
	for i := range in.Events {
		e := &in.Events[i]
		container, is := strings.CutPrefix(e.Message, "Stopping container ")
		isSidecar := func(c corev1.Container) bool { return c.Name == container }
		if !is || e.Reason != "Killing" || known[e.Pod] || in.StopReason(e.Last) != explain.StoppedAtDeadline ||
			slices.ContainsFunc(in.Spec.Template.Spec.InitContainers, isSidecar) {
			continue
		}
		if stopped[e.Pod] == nil {
			pods = append(pods, e.Pod)
		}
		stopped[e.Pod] = append(stopped[e.Pod], container)
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
