package endings_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: CON-06
func TestDeadlineSpentOnAProxyNamesIt(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Template.Spec.Containers = append(j.Spec.Template.Spec.Containers, corev1.Container{Name: "cloudsql-proxy"})
		explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	})
	end := job.Status.Conditions[0].LastTransitionTime
	stopping := func(container string) input.Event {
		return input.Event{Pod: "a", Type: "Normal", Source: "kubelet", Reason: "Killing", Message: "Stopping container " + container, Count: 1, First: end.Time, Last: end.Time}
	}
	gone := explaintest.InputOf(job)
	gone.Events = []input.Event{stopping("cloudsql-proxy")}
	r := explaintest.WantFirst(t, gone, "container main of pod a had ended, and container cloudsql-proxy kept the pod running")
	explaintest.WantText(t, r, "(--quitquitquit of its version 2, then POST to localhost:9091/quitquitquit), or recreate the Job with it as a native sidecar")
	explaintest.WantWithout(t, r, "or have it do its work in less time")

	gone.Events = append(gone.Events, stopping("main"))
	r = explaintest.Report(gone)
	explaintest.WantText(t, r, "or have it do its work in less time")
	explaintest.WantWithout(t, r, "had ended")

	there := explaintest.InputOf(job, explaintest.PodOf("a", explaintest.FailedPod(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, ptr.To[int64](0)
		for name, at := range map[string]time.Duration{"main": -time.Minute, "cloudsql-proxy": time.Second} {
			explaintest.AddEnd(p, name, map[string]int32{"cloudsql-proxy": 143}[name], "", false)
			p.Status.ContainerStatuses[len(p.Status.ContainerStatuses)-1].State.Terminated.FinishedAt.Time = end.Add(at)
		}
	})))
	explaintest.WantFirst(t, there, "container main of pod a had exited with code 0, and container cloudsql-proxy kept the pod running")
}

// How long the container ran tells a slow program from a slow start.
// Requirements: CON-06
func TestDeadlineHasTheRunOfTheContainer(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "fetch"}, {Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
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
			in := explaintest.InputOf(job)
			in.PodsRead, in.EventsRead, in.Events = true, true, c.events
			if c.want == "" {
				explaintest.WantWithout(t, explaintest.Report(in), "when it was stopped")
				return
			}
			explaintest.WantFirst(t, in, c.want)
		})
	}
}
