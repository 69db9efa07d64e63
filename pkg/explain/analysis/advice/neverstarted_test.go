package advice_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// unstarted returns a pod change: containerd could not start the container, d ago.
func unstarted(message string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		explaintest.Exits(128, "StartError", d)(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.StartedAt, end.Message = metav1.Unix(0, 0), message
	}
}

// Issue 5, CLI-04: a start time in 1970 means that the container never started.
func TestStartIn1970IsNone(t *testing.T) {
	pod := unstarted("no", time.Minute)
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), explaintest.PodOf("a", pod)))
	explaintest.WantText(t, r, "container main could not be started (StartError)")
	explaintest.WantWithout(t, r, "(StartError) after")
	whole := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	pod(whole)
	whole.Status.ContainerStatuses[0].LastTerminationState = whole.Status.ContainerStatuses[0].State
	for _, c := range explain.PodDetailOf(whole, nil).Containers {
		if c.Now.Started != nil || c.Before.Started != nil || !c.Now.Ended.Equal(whole.Status.ContainerStatuses[0].State.Terminated.FinishedAt.DeepCopy()) {
			t.Errorf("%+v, before %+v", c.Now, c.Before)
		}
	}
}
