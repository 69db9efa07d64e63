package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func running(ready bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}}
		if ready {
			p.Status.Conditions[0].Status = corev1.ConditionTrue
		}
	}
}

// terminating returns a pod change: deletion was requested d ago, with 30 s of grace.
func terminating(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		running(true)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(d-30*time.Second)), ptr.To[int64](30)
	}
}

// Issue 6, point 2: indexes whose pod is ready, and indexes removed when an elastic Indexed Job was scaled down.
// Requirements: TRK-29
func TestReadyAndOutOfRangeIndexesAreListed(t *testing.T) {
	pods := []*input.Pod{
		podOf("train-0-a", onIndex(0, 1, running(true))),
		podOf("train-1-a", onIndex(1, 1, running(false))),
		podOf("train-2-a", onIndex(2, 1, terminating(time.Second))),
		podOf("train-3-a", onIndex(3, 1, running(true))),
		podOf("train-3-b", onIndex(3, 2, running(false))),
		podOf("train-4-a", onIndex(4, 1, exits(0, "", time.Minute))),
		podOf("train-5-a", onIndex(5, 1, terminating(time.Second))),
		podOf("train-6-a", onIndex(6, 1, running(true))),
		podOf("train-7-a", onIndex(7, 1, exits(1, "", time.Minute))),
		podOf("no-index", running(true)),
	}
	for _, tc := range []struct {
		completions                        int32
		active, ready, beyond, terminating string
		readyCount, beyondCount            int32
	}{
		{8, "0,1,3,6", "0,3,6", "", "2,5", 3, 0},
		{6, "0,1,3", "0,3", "6", "2,5", 2, 1},
		{5, "0,1,3", "0,3", "5,6", "2", 2, 2},
		{1, "0", "0", "1-3,5,6", "", 1, 5},
		{0, "", "", "0-3,5,6", "", 0, 6},
	} {
		// With TerminatingOrFailed, 2 and 5 would be in back-off.
		job := indexedJob(tc.completions, func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) })
		x := report(factsOf(job, pods...)).Indexes
		if x.Active != tc.active || x.Ready != tc.ready || x.OutOfRange != tc.beyond || x.ReadyCount != tc.readyCount || x.OutOfRangeCount != tc.beyondCount || x.Terminating != tc.terminating {
			t.Errorf("completions %d: %+v", tc.completions, x)
		}
	}
	// A succeeded index is not active, whatever another of its pods does.
	done := indexedJob(8, func(j *batchv1.Job) { j.Status.CompletedIndexes = "0" })
	assert.Equal(t, report(factsOf(done, pods...)).Indexes.Ready, "3,6", "ready")
}

// Issue 6, points 2 and 3: the action of the matched rule, and the end of the grace period.
func TestPodHasItsActionAndGracePeriod(t *testing.T) {
	policy := rules(2)
	policy.Rules[1].Action = batchv1.PodFailurePolicyActionIgnore
	job := jobWith(func(j *batchv1.Job) { j.Spec.PodFailurePolicy = policy })
	r := report(factsOf(job,
		podOf("by-rule-1", exits(2, "", time.Minute)), podOf("no-rule", exits(9, "", time.Minute)), podOf("ending", terminating(10*time.Second)),
		podOf("running", running(true)),
		podOf("ended", func(p *corev1.Pod) { terminating(10 * time.Second)(p); exits(2, "", time.Minute)(p) }),
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
	if ends := got["ending"].GraceEnds; ends == nil || !ends.Time.Equal(noon.Add(20*time.Second)) {
		t.Errorf("the grace period ends at %v", ends)
	}
}

// The pods of a Job with a manual selector are listed by it: they may lack the label of the Job's name.
//
// Requirements: CLI-06
func TestPodsOfAManualSelectorAreListedByIt(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.DeletionTimestamp, j.Finalizers = ptr.To(ago(time.Minute)), []string{metav1.FinalizerDeleteDependents}
		j.Spec.ManualSelector, j.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "train", "run": "7"}}
	})
	advice := report(factsOf(job, podOf("train-a", nil))).Advice
	if len(advice) != 1 || advice[0].Command != "kubectl get pods -l 'app=train,run=7' -n ns" {
		t.Errorf("%+v", advice)
	}
}
