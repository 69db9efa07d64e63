package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Requirements: CON-06
func TestDeadlineSpentOnAProxyNamesIt(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Template.Spec.Containers = append(j.Spec.Template.Spec.Containers, corev1.Container{Name: "cloudsql-proxy"})
		ended(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	})
	end := job.Status.Conditions[0].LastTransitionTime
	stopping := func(container string) input.Event {
		return input.Event{Pod: "a", Type: "Normal", Source: "kubelet", Reason: "Killing", Message: "Stopping container " + container, Count: 1, First: end.Time, Last: end.Time}
	}
	gone := factsOf(job)
	gone.PodsRead, gone.EventsRead = true, true
	gone.Events = []input.Event{stopping("cloudsql-proxy")}
	r := wantFirst(t, gone, "container main of pod a had ended, and container cloudsql-proxy kept the pod running")
	wantText(t, r, "run the Cloud SQL proxy as a native sidecar")
	wantWithout(t, r, "give the Job more time")

	gone.Events = append(gone.Events, stopping("main"))
	r = report(gone)
	wantText(t, r, "give the Job more time")
	wantWithout(t, r, "had ended")

	there := factsOf(job, podOf("a", failedPod(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, ptr.To[int64](0)
		for name, at := range map[string]time.Duration{"main": -time.Minute, "cloudsql-proxy": time.Second} {
			ends(p, name, map[string]int32{"cloudsql-proxy": 143}[name], "", false)
			p.Status.ContainerStatuses[len(p.Status.ContainerStatuses)-1].State.Terminated.FinishedAt.Time = end.Add(at)
		}
	})))
	wantFirst(t, there, "container main of pod a had exited with code 0, and container cloudsql-proxy kept the pod running")
}

// How long the container ran tells a slow program from a slow start.
//
// Requirements: CON-06
func TestDeadlineHasTheRunOfTheContainer(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "fetch"}, {Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		ended(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	})
	end := job.Status.Conditions[0].LastTransitionTime.Time
	of := func(pod, container, reason, message string, before time.Duration) input.Event {
		at := end.Add(-before)
		return input.Event{Pod: pod, Container: container, Type: "Normal", Source: "kubelet", Reason: reason, Message: message, Count: 1, First: at, Last: at}
	}
	start := func(pod, container string, before time.Duration) input.Event {
		return of(pod, container, "Started", "Container started", before)
	}
	stop := func(pod, container string) input.Event {
		return of(pod, container, "Killing", "Stopping container "+container, 0)
	}
	for name, c := range map[string]struct {
		events []input.Event
		want   string // "" if it is not known
	}{
		"one pod":                {[]input.Event{start("a", "main", 50*time.Second), stop("a", "main")}, "container main had run for 50s when it was stopped"},
		"a restarted container":  {[]input.Event{start("a", "main", 50*time.Second), start("a", "main", 20*time.Second), stop("a", "main")}, "container main had run for 50s"},
		"two pods":               {[]input.Event{start("a", "main", 5*time.Second), start("b", "main", 55*time.Second), stop("a", "main"), stop("b", "main")}, "container main of pod b had run longest, for 55s, when 2 pods were stopped"},
		"an init container":      {[]input.Event{start("a", "fetch", 58*time.Second), stop("a", "fetch")}, "container fetch had run for 58s"},
		"an injected proxy":      {[]input.Event{start("a", "istio-proxy", 58*time.Second), stop("a", "istio-proxy"), start("a", "main", 30*time.Second), stop("a", "main")}, "container main had run for 30s"},
		"a native sidecar":       {[]input.Event{start("a", "logs", 58*time.Second), stop("a", "logs"), start("a", "main", 30*time.Second), stop("a", "main")}, "container main had run for 30s"},
		"the start is not known": {[]input.Event{stop("a", "main")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := factsOf(job)
			in.PodsRead, in.EventsRead, in.Events = true, true, c.events
			if c.want == "" {
				wantWithout(t, report(in), "when it was stopped")
				return
			}
			wantFirst(t, in, c.want)
		})
	}
}
