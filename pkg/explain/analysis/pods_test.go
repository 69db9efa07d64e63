package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Issue 6, points 2 and 3: the action of the matched rule, and the end of the grace period.
func TestPodHasItsActionAndGracePeriod(t *testing.T) {
	policy := explaintest.Rules(2)
	policy.Rules[1].Action = batchv1.PodFailurePolicyActionIgnore
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.PodFailurePolicy = policy })
	r := explaintest.Report(explaintest.InputOf(job,
		explaintest.PodOf("by-rule-1", explaintest.Exits(2, "", time.Minute)), explaintest.PodOf("no-rule", explaintest.Exits(9, "", time.Minute)), explaintest.PodOf("ending", explaintest.Terminating(10*time.Second)),
		explaintest.PodOf("running", explaintest.Running(true)),
		explaintest.PodOf("ended", func(p *corev1.Pod) {
			explaintest.Terminating(10 * time.Second)(p)
			explaintest.Exits(2, "", time.Minute)(p)
		}),
	))
	got := map[string]explain.PodInfo{}
	for _, p := range r.Pods {
		got[p.Name] = p
	}
	for name, want := range map[string]struct {
		action string
		ends   bool
	}{"by-rule-1": {"Ignore", false}, "no-rule": {"", false}, "ending": {"", true}, "running": {"", false}, "ended": {"Ignore", false}} {
		p := got[name]
		if p.Action != want.action || (p.GraceEnds != nil) != want.ends || (p.Rule != nil) != (want.action != "") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if ends := got["ending"].GraceEnds; ends == nil || !ends.Time.Equal(explaintest.Noon.Add(20*time.Second)) {
		t.Errorf("the grace period ends at %v", ends)
	}
}

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
