package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// hookEvents returns a kubelet's events about a failed postStart hook.
func hookEvents(container, message string) []input.Event {
	warning, killing := about("a", "Warning", "kubelet", "FailedPostStartHook", message), about("a", "Normal", "kubelet", "Killing", "FailedPostStartHook")
	warning.Container, killing.Container = container, container
	return []input.Event{warning, killing}
}

// Requirements: CLI-14
func TestPostStartHookExplainsThatItsContainerWasKilled(t *testing.T) {
	f := failedOnce(podOf("a", exits(137, "Error", 12*time.Minute)))
	f.Events = hookEvents("main", "PostStartHook failed")
	r := wantFirst(t, f, "container main was killed because its postStart hook failed;")
	wantText(t, r, "fix the postStart hook of container main", "code 137")
	wantWithout(t, r, "low on memory", "grace period")

	f.Events = hookEvents("", `Exec lifecycle hook ([sh -c x]) for Container "main" in Pod "a_ns(1)" failed - error: command 'sh -c x' exited with 1`)
	wantFirst(t, f, "container main was killed because its postStart hook failed")

	f.Events = hookEvents("other", "PostStartHook failed")
	wantWithout(t, report(f), "postStart hook")
}

// endedAt returns the time at which the Jobs of these tests ended.
func endedAt(f *input.Input) time.Time { return f.Job.Status.Conditions[0].LastTransitionTime.Time }

// Requirements: CLI-14
func TestProbeIsKnownOfAPodThatIsGone(t *testing.T) {
	f := failedOnce()
	f.PodsRead, f.EventsRead = true, true
	for _, e := range probeEvents {
		e.First, e.Last = endedAt(&f), endedAt(&f) // Times are in whole seconds.
		f.Events = append(f.Events, e)
	}
	r := wantFirst(t, f, "container main was killed because its liveness probe failed: “dial tcp 10.1.2.3:8080: connect: connection refused”")
	if r.FailuresWithoutPod != 0 || len(r.Causes) != 1 || r.Causes[0].Meaning == "" {
		t.Errorf("%d failures without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	for i := range f.Events {
		f.Events[i].First = endedAt(&f).Add(time.Second) // After the end of the Job.
	}
	wantWithout(t, report(f), "was killed because")
}

// Requirements: CLI-15
func TestPodThatIsGoneWithItsNodeIsDisrupted(t *testing.T) {
	f := failedOnce()
	f.PodsRead, f.EventsRead = true, true
	f.Events = []input.Event{about("a", "Normal", "default-scheduler", "Scheduled", "Successfully assigned ns/a to worker-1")}
	f.GoneNodes = map[string]string{"worker-1": input.NodeRemoved}
	r := wantFirst(t, f, "pod is gone, and its node no longer exists")
	wantText(t, r, "DisruptionTarget")

	// The controller's event shows the disruption and its pod.
	f.Events = append(f.Events, failedEvent(cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: corev1.DisruptionTarget}, "a", 1, 11*time.Minute))
	wantFirst(t, f, "pod is gone, and its node no longer exists")

	// One of two pods has succeeded: nothing shows which one.
	f.Events = append(f.Events[:1:1], about("b", "Normal", "default-scheduler", "Scheduled", "Successfully assigned ns/b to worker-1"))
	wantWithout(t, report(f), "no longer exists")
	// The node still exists.
	f.GoneNodes, f.Events = nil, f.Events[:1]
	wantWithout(t, report(f), "no longer exists")
}

// Requirements: CLI-16
func TestDisruptionIsTheCauseWhereverItIsNamed(t *testing.T) {
	pod := withStatus("", "", "DeletionByPodGC", "PodGC: node no longer exists", exits(143, "Error", 12*time.Minute))
	r := wantFirst(t, failedOnce(podOf("a", pod)), "pod was deleted because its node no longer exists")
	wantWithout(t, r, "has condition")
	for _, m := range r.Timeline {
		if m.Kind == explain.MomentPodsFailed && m.Text != "pod a failed: pod was deleted because its node no longer exists" {
			t.Errorf("%s", m.Text)
		}
	}
	assert.Equal(t, r.Pods[0].Cause, "Pod was deleted because its node no longer exists")
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: "FailJob", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
		ended(j, batchv1.JobReasonPodFailurePolicy, "Pod ns/a has condition DisruptionTarget matching FailJob rule at index 0")
	}), podOf("a", pod))
	wantFirst(t, f, "matched pod a (condition DisruptionTarget): it was deleted because its node no longer exists")
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
		f := failedOnce()
		f.PodsRead, f.EventsRead = true, true
		f.Events = []input.Event{failedEvent(cause.Failure{
			Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: corev1.DisruptionTarget, ConditionReason: reason,
		}, "a", 1, 11*time.Minute)}
		wantWithout(t, wantFirst(t, f, first), "DisruptionTarget,", "find out what deletes or evicts")
	}
}
