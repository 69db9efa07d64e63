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

// hookEvents returns a kubelet's events about a failed postStart hook.
func hookEvents(container, message string) []input.Event {
	warning, killing := explaintest.AboutPod("a", "Warning", "kubelet", "FailedPostStartHook", message), explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "FailedPostStartHook")
	warning.Container, killing.Container = container, container
	return []input.Event{warning, killing}
}

// Requirements: CLI-14
func TestPostStartHookExplainsThatItsContainerWasKilled(t *testing.T) {
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(137, "Error", 12*time.Minute)))
	f.Events = hookEvents("main", "PostStartHook failed")
	r := explaintest.WantFirst(t, f, "container main was killed because its postStart hook failed;")
	explaintest.WantText(t, r, "fix the postStart hook of container main", "code 137")
	explaintest.WantWithout(t, r, "low on memory", "grace period")

	f.Events = hookEvents("", `Exec lifecycle hook ([sh -c x]) for Container "main" in Pod "a_ns(1)" failed - error: command 'sh -c x' exited with 1`)
	explaintest.WantFirst(t, f, "container main was killed because its postStart hook failed")

	f.Events = hookEvents("other", "PostStartHook failed")
	explaintest.WantWithout(t, explaintest.Report(f), "postStart hook")
}

// endedAt returns the time at which the Jobs of these tests ended.
func endedAt(f *input.Input) time.Time { return f.Job.Status.Conditions[0].LastTransitionTime.Time }

// Requirements: CLI-14
func TestProbeIsKnownOfAPodThatIsGone(t *testing.T) {
	f := explaintest.FailedOnce()
	for _, e := range probeEvents {
		e.First, e.Last = endedAt(&f), endedAt(&f) // Times are in whole seconds.
		f.Events = append(f.Events, e)
	}
	r := explaintest.WantFirst(t, f, "container main was killed because its liveness probe failed: “dial tcp 10.1.2.3:8080: connect: connection refused”")
	if r.FailuresWithoutPod != 0 || len(r.Causes) != 1 || r.Causes[0].Meaning == "" {
		t.Errorf("%d failures without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	for i := range f.Events {
		f.Events[i].First = endedAt(&f).Add(time.Second) // After the end of the Job.
	}
	explaintest.WantWithout(t, explaintest.Report(f), "was killed because")
}

// Requirements: CLI-15
func TestPodThatIsGoneWithItsNodeIsDisrupted(t *testing.T) {
	f := explaintest.FailedOnce()
	f.Events = []input.Event{explaintest.AboutPod("a", "Normal", "default-scheduler", "Scheduled", "Successfully assigned ns/a to worker-1")}
	f.GoneNodes = map[string]string{"worker-1": input.NodeRemoved}
	r := explaintest.WantFirst(t, f, "pod is gone, and its node no longer exists")
	explaintest.WantText(t, r, "DisruptionTarget")

	// The controller's event shows the disruption and its pod.
	f.Events = append(f.Events, explaintest.FailedEvent(cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: corev1.DisruptionTarget}, "a", 1, 11*time.Minute))
	explaintest.WantFirst(t, f, "pod is gone, and its node no longer exists")

	// One of two pods has succeeded: nothing shows which one.
	f.Events = append(f.Events[:1:1], explaintest.AboutPod("b", "Normal", "default-scheduler", "Scheduled", "Successfully assigned ns/b to worker-1"))
	explaintest.WantWithout(t, explaintest.Report(f), "no longer exists")
	// The node still exists.
	f.GoneNodes, f.Events = nil, f.Events[:1]
	explaintest.WantWithout(t, explaintest.Report(f), "no longer exists")
}

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
