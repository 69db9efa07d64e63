package endings_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: CLI-16
func TestDisruptionIsTheCauseWhereverItIsNamed(t *testing.T) {
	pod := explaintest.WithStatus("", "", "DeletionByPodGC", "PodGC: node no longer exists", explaintest.Exits(143, "Error", 12*time.Minute))
	r := explaintest.WantFirst(t, explaintest.FailedOnce(explaintest.PodOf("a", pod)), "pod was deleted because its node no longer exists")
	explaintest.WantWithout(t, r, "has condition")
	for _, m := range r.Timeline {
		if m.Kind == explain.MomentPodsFailed && m.Text != "pod a failed: pod was deleted because its node no longer exists" {
			t.Errorf("%s", m.Text)
		}
	}
	assert.Equal(t, r.Pods[0].Cause, "Pod was deleted because its node no longer exists")
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		j.Spec.PodFailurePolicy = explaintest.OnDisruption(batchv1.PodFailurePolicyActionFailJob)
		explaintest.FailJob(j, batchv1.JobReasonPodFailurePolicy, "Pod ns/a has condition DisruptionTarget matching FailJob rule at index 0")
	}), explaintest.PodOf("a", pod))
	explaintest.WantFirst(t, f, "matched pod a (condition DisruptionTarget): it was deleted because its node no longer exists")
}

// Requirements: CLI-16
func TestEventOfOurControllerHasWhatDisruptedAPodThatIsGone(t *testing.T) {
	for reason, first := range map[string]string{
		"EvictionByEvictionAPI":  "the pod was evicted through the Eviction API",
		"PreemptionByScheduler":  "the pod was preempted by the scheduler for a pod with a higher priority",
		"DeletionByTaintManager": "the pod was deleted because of a NoExecute taint on its node",
		"DeletionByPodGC":        "the pod was deleted because its node no longer exists",
		"SpotReclaimed":          "the pod was disrupted (SpotReclaimed)",
	} {
		f := explaintest.FailedOnce()
		f.Events = []input.Event{explaintest.FailedEvent(cause.Failure{
			Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: corev1.DisruptionTarget, ConditionReason: reason,
		}, "a", 1, 11*time.Minute)}
		explaintest.WantWithout(t, explaintest.WantFirst(t, f, first), "DisruptionTarget,", "find out what deletes or evicts")
	}
}
