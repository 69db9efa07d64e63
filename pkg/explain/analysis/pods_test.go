package analysis_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Issue 5, CLI-04: a pod runs from the start of its first container, which is after its sandbox was set up and its images
// were pulled.
func TestPodRunsSinceItsFirstContainer(t *testing.T) {
	runs := func(name string, restarts int32, start time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(start)}}}
	}
	over := func(s corev1.ContainerStatus, start, end time.Duration) corev1.ContainerStatus {
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: explaintest.Ago(start), FinishedAt: explaintest.Ago(end)}}
		return s
	}
	before := func(s corev1.ContainerStatus, start, end time.Duration) corev1.ContainerStatus {
		s.LastTerminationState = over(s, start, end).State
		return s
	}
	in1970 := over(runs("main", 0, 0), 0, time.Minute)
	in1970.State.Terminated.StartedAt = metav1.Unix(0, 0)
	waits := corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
	for name, tc := range map[string]struct {
		init, app []corev1.ContainerStatus
		ago       time.Duration // 0 if it is unknown
	}{
		"no container":              {nil, nil, 0},
		"waits":                     {nil, []corev1.ContainerStatus{waits}, 0},
		"runs":                      {nil, []corev1.ContainerStatus{runs("main", 0, 5*time.Minute)}, 5 * time.Minute},
		"ended":                     {nil, []corev1.ContainerStatus{over(runs("main", 0, 0), 7*time.Minute, time.Minute)}, 7 * time.Minute},
		"never started":             {nil, []corev1.ContainerStatus{in1970}, 0},
		"the first of several":      {nil, []corev1.ContainerStatus{runs("main", 0, 5*time.Minute), runs("side", 0, 6*time.Minute), waits}, 6 * time.Minute},
		"an init container":         {[]corev1.ContainerStatus{over(runs("fetch", 0, 0), 9*time.Minute, 8*time.Minute)}, []corev1.ContainerStatus{runs("main", 0, 5*time.Minute)}, 9 * time.Minute},
		"restarted once":            {nil, []corev1.ContainerStatus{before(runs("main", 1, 2*time.Minute), 8*time.Minute, 3*time.Minute)}, 8 * time.Minute},
		"restarted once, forgotten": {nil, []corev1.ContainerStatus{runs("main", 1, 2*time.Minute)}, 0},
		"restarted twice":           {nil, []corev1.ContainerStatus{before(runs("main", 2, 2*time.Minute), 8*time.Minute, 3*time.Minute)}, 0},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(nil), explaintest.PodOf("a", func(p *corev1.Pod) { p.Status.InitContainerStatuses, p.Status.ContainerStatuses = tc.init, tc.app })))
		got := time.Duration(0)
		if s := r.Pods[0].Started; s != nil {
			got = explaintest.Noon.Sub(s.Time)
		}
		assert.Equal(t, got, tc.ago, name)
	}
}
