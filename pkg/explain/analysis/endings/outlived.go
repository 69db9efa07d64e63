package endings

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// Outlived is a pod of a Job that passed its deadline: a container of its template had ended, and others kept the pod
// running until the controller deleted it.
type Outlived struct {
	Pod string
	// Ended is the container that had ended. Exit is its exit, nil if only events of the pod are left.
	Ended string
	Exit  *cause.Exit
	// Running are the names of the other containers.
	Running []string
}

// WhatOutlived returns the first such pod that pods and events show, nil if there is none.
func WhatOutlived(in *facts.Facts) *Outlived {
	if in.Decision.Reason != batchv1.JobReasonDeadlineExceeded {
		return nil
	}
	known := map[string]bool{}
	for _, p := range in.Pods {
		known[p.Name] = true
		if o := outlivedPod(in, p); o != nil {
			return o
		}
	}
	return outlivedGonePod(in, known)
}

// outlivedPod checks a pod that exists.
func outlivedPod(in *facts.Facts, p *explain.Pod) *Outlived {
	if !p.Deleting || p.DeletedAt.Before(in.Decision.Since) {
		return nil
	}
	o := &Outlived{Pod: p.Name}
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Init || !c.Ended || c.Before || c.EndedAt.IsZero() {
			continue
		}
		if !c.EndedAt.Before(p.DeletedAt) {
			o.Running = append(o.Running, c.Name)
		} else if o.Exit == nil && !facts.IsStopped(c) && !in.OnlyServes(c.Name) {
			exit := facts.ExitOf(c)
			o.Ended, o.Exit = c.Name, &exit
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
func outlivedGonePod(in *facts.Facts, known map[string]bool) *Outlived {
	if !in.PodsRead || !in.EventsRead {
		return nil
	}
	stopped, names := stoppedContainers(in)
	for _, pod := range names {
		if known[pod] {
			continue
		}
		for i := range in.Spec.Template.Spec.Containers {
			name := in.Spec.Template.Spec.Containers[i].Name
			if !slices.Contains(stopped[pod], name) && !in.OnlyServes(name) {
				if running := withoutInit(in, stopped[pod]); len(running) > 0 {
					return &Outlived{Pod: pod, Ended: name, Running: running}
				}
			}
		}
	}
	return nil
}

// stoppedContainers returns the containers that kubelets stopped at the deadline of the Job, by pod, and the pods in the
// order of time.
func stoppedContainers(in *facts.Facts) (stopped map[string][]string, pods []string) {
	stopped = map[string][]string{}
	for i := range in.Events {
		e := &in.Events[i]
		container, is := strings.CutPrefix(e.Message, "Stopping container ")
		if !is || e.Reason != "Killing" || e.Pod == "" || in.StopReason(e.Last) != explain.StoppedAtDeadline {
			continue
		}
		if stopped[e.Pod] == nil {
			pods = append(pods, e.Pod)
		}
		stopped[e.Pod] = append(stopped[e.Pod], container)
	}
	return stopped, pods
}

// withoutInit removes native sidecars of the template: they keep no pod running.
func withoutInit(in *facts.Facts, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(in.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
	})
}
