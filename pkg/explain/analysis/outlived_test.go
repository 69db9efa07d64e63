package analysis_test

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
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
	wantSaid(t, r, "run the Cloud SQL proxy as a native sidecar")
	wantUnsaid(t, r, "give the Job more time")

	gone.Events = append(gone.Events, stopping("main"))
	r = report(gone)
	wantSaid(t, r, "give the Job more time")
	wantUnsaid(t, r, "had ended")

	there := factsOf(job, podOf("a", failedPod(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, ptr.To[int64](0)
		for name, at := range map[string]time.Duration{"main": -time.Minute, "cloudsql-proxy": time.Second} {
			ends(p, name, map[string]int32{"cloudsql-proxy": 143}[name], "", false)
			p.Status.ContainerStatuses[len(p.Status.ContainerStatuses)-1].State.Terminated.FinishedAt.Time = end.Add(at)
		}
	})))
	wantFirst(t, there, "container main of pod a had exited with code 0, and container cloudsql-proxy kept the pod running")
}
