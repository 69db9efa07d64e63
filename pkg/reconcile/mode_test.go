package reconcile

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// mode sets completionMode to any text.
func mode(text batchv1.CompletionMode) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.CompletionMode = &text }
}

// JOB-13: a Job with a mode that this version does not know is left alone, whatever its state, and a finding contains
// the mode.
func TestJobOfAnUnknownModeIsLeftAlone(t *testing.T) {
	for name, option := range map[string]func(*batchv1.Job){
		"new": noStart, "over the limit": backoffLimit(-1), "late": deadline(1), "suspended": suspend,
		"ending": interim(failureTarget), "done": counters(9, 0), "being deleted": beingDeleted,
		"recorded": uncounted([]types.UID{"s"}, []types.UID{"f"}), "policy": failurePolicy(onExit("FailJob", 1)),
	} {
		o := observeJob(sized(3, 3), mode("Weird"), option).
			with("r").with("s", succeededPod(time.Minute)).with("f", failedPod(1, time.Hour)).
			with("t", deletedPod(0)).with("u", untracked).stray("x")
		plan := o.want(t, "")
		assert.SlicesEqual(t, plan.Findings.Lines(now), []string{"UnknownMode Weird"}, name)
		assert.Equalf(t, plan.RequeueAfter, 0, "%s: again after", name)
	}
	// Known modes, and an unset mode, which is NonIndexed, are not left alone.
	for _, option := range []func(*batchv1.Job){
		mode(batchv1.IndexedCompletion), mode(batchv1.NonIndexedCompletion), func(j *batchv1.Job) { j.Spec.CompletionMode = nil },
	} {
		plan := observeJob(option).compute()
		if len(plan.Create) != 1 || plan.Findings.UnknownMode != "" {
			t.Errorf("%s", planText(plan))
		}
	}
	// The Job continues when its mode is known again (a newer API server, an older version of this controller).
	o := observeJob(mode("Weird")).with("p", inPhase(corev1.PodSucceeded))
	o.want(t, "")
	mode(batchv1.NonIndexedCompletion)(o.Job)
	o.settle(t)
	if !IsFinished(o.Job) {
		t.Error(statusText(&o.Job.Status))
	}
}
