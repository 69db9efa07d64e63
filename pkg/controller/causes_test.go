package controller

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func exited(name string, code int32, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

// failedPod returns a pod of the Job with a container that failed in the given way.
func failedPod(name string, containers ...corev1.ContainerStatus) *corev1.Pod {
	pod := runningPod(name, ourJob(1))
	pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodFailed, containers
	return pod
}

// restartedPod returns a pod of the Job that runs again, after its container ended in the given way.
func restartedPod(name string, code int32) *corev1.Pod {
	pod := runningPod(name, ourJob(1))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		LastTerminationState: exited("main", code, "Error").State,
	}}
	return pod
}

func withCondition(pod *corev1.Pod, c corev1.PodConditionType) *corev1.Pod {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue})
	return pod
}

func deleted(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{Time: testTime}
	return pod
}

func onCodes(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

// policyJob has two rules, the second of which has a name, unless a test omits them.
func policyJob() *batchv1.Job {
	job := ourJob(1)
	job.Annotations = map[string]string{rulename.Annotation: "1=OutOfLuck"}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		onCodes(batchv1.PodFailurePolicyActionFailJob, 42, 137),
	}}
	return job
}

// The cause of a failure is the evidence of the matched rule, otherwise the first container that failed, even without a
// podFailurePolicy; and the rule, with its name (JOB-47).
func TestCauseIsWhatTheRuleLookedAt(t *testing.T) {
	ok := exited("main", 0, "Completed")
	for name, c := range map[string]struct {
		job  *batchv1.Job
		pod  *corev1.Pod
		want string
	}{
		"no policy":          {ourJob(1), failedPod("p", ok, exited("side", 3, "Error"), exited("last", 4, "Error")), "Container side exited with code 3"},
		"no policy, a word":  {ourJob(1), failedPod("p", exited("main", 137, "OOMKilled")), "Container main exited with code 137 (OOMKilled)"},
		"no policy, evicted": {ourJob(1), withCondition(failedPod("p"), corev1.DisruptionTarget), "Pod has condition DisruptionTarget"},
		"no policy, evicted, container": {
			ourJob(1), withCondition(failedPod("p", exited("main", 143, "Error")), corev1.DisruptionTarget),
			"Container main exited with code 143 (SIGTERM), and the pod has condition DisruptionTarget",
		},
		"no policy, deleted":            {ourJob(1), deleted(runningPod("p", ourJob(1))), "Pod was deleted before it ended"},
		"no policy, deleted, container": {ourJob(1), deleted(failedPod("p", exited("main", 143, ""))), "Container main exited with code 143 (SIGTERM) while its pod was being deleted"},
		"no policy, deleted, restarted": {
			ourJob(1), deleted(restartedPod("p", 7)),
			"Pod was deleted before it ended; before that, container main exited with code 7 and was restarted",
		},
		"no policy, nothing":            {ourJob(1), failedPod("p"), "Pod failed, and no container shows why"},
		"no policy, the kubelet's word": {ourJob(1), withReason(failedPod("p"), "UnexpectedAdmissionError"), "Pod failed: UnexpectedAdmissionError"},
		"no rule":                       {policyJob(), failedPod("p", exited("main", 1, "")), "Container main exited with code 1; no rule of the podFailurePolicy matched"},
		"rule with a name": {
			policyJob(), failedPod("p", exited("side", 1, ""), exited("main", 137, "OOMKilled")),
			`Container main exited with code 137 (OOMKilled); rule 1 "OutOfLuck" of the podFailurePolicy matched: FailJob`,
		},
		"rule on a condition": {
			policyJob(), withCondition(failedPod("p", exited("main", 42, "")), corev1.DisruptionTarget),
			"Pod has condition DisruptionTarget; rule 0 of the podFailurePolicy matched: Ignore",
		},
	} {
		pod := observe.Pod(c.pod)
		plan := reconcile.Compute(reconcile.Observation{Job: c.job, Pods: []*reconcile.Pod{&pod}, Now: testTime}, reconcile.DefaultConfig())
		failed := plan.Findings.RecordedFailed
		for _, p := range plan.Findings.Verdicts {
			if p.Match.Action == batchv1.PodFailurePolicyActionIgnore {
				failed = append(failed, p)
			}
		}
		var got []string
		for _, p := range failed {
			got = append(got, cause.Of(p.Pod, p.Match, plan.Findings.RuleNames).Text())
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// JOB-16, JOB-47: restarts that use up backoffLimit are recorded with the decision, before the pod is deleted. The pod
// may be gone when a user looks for the cause: the remaining event shows how the container failed. The versions of the
// pod are those that a kubelet reports for a container that exits with 7 a second after it starts; every version from
// the restart on leads to the event.
func TestEventOfRestartsOutlivesThePod(t *testing.T) {
	first, ended := running("main", 0, nil), exited("main", 7, "Error")
	last := &ended.State
	waits := running("main", 1, last)
	waits.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	endedAgain := running("main", 1, last)
	endedAgain.State = ended.State
	const restarted = "Pod was deleted before it ended; before that, container main exited with code 7 and was restarted"
	for name, test := range map[string]struct {
		versions []corev1.ContainerStatus
		cause    string
	}{
		"restarted":                    {[]corev1.ContainerStatus{first, ended, running("main", 1, last)}, restarted},
		"the end was skipped":          {[]corev1.ContainerStatus{first, running("main", 1, last)}, restarted},
		"seen when it had ended again": {[]corev1.ContainerStatus{first, endedAgain}, "Container main exited with code 7"},
		"seen in back-off":             {[]corev1.ContainerStatus{first, ended, waits}, restarted},
	} {
		f, events := newTalkingCluster(t)
		job := ourJob(1)
		job.Spec.BackoffLimit, job.Spec.Template.Spec.RestartPolicy = ptr.To[int32](1), corev1.RestartPolicyOnFailure
		f.addJob(job)
		for i, status := range test.versions {
			pod := runningPod("p", job)
			pod.ResourceVersion = strconv.Itoa(100 + i)
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
			f.addPods(pod)
			f.syncs()
			if i < len(test.versions)-1 && len(events.texts) > 0 {
				t.Errorf("%s: too early: %q", name, events.texts)
			}
		}
		events.want(t, name,
			"Warning PodFailed: "+test.cause+". First in pod p",
			"Normal SuccessfulDelete: Deleted pod: p", "Warning BackoffLimitExceeded: Job has reached the specified backoff limit; container main of pod p failed with exit code 7")
	}
}

// running returns a running container with a number of restarts and its last termination.
func running(name string, restarts int32, last *corev1.ContainerState) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	if last != nil {
		s.LastTerminationState = *last
	}
	return s
}

// JOB-47: rule names are a feature; without it, there are no names (KEP-4443).
func TestCausesWithoutRuleNames(t *testing.T) {
	config := reconcile.DefaultConfig()
	config.Features = reconcile.Features{PodReplacementPolicy: true}
	assert.Equal(t, reconcile.Compute(reconcile.Observation{Job: policyJob()}, config).Findings.RuleNames.Name(1), "")
}

// A cause is reported only once the failure is stored, or its pod released (JOB-47).
func TestCausesFollowWrites(t *testing.T) {
	f, events := newTalkingCluster(t)
	job := policyJob()
	job.Spec.BackoffLimit = ptr.To[int32](5)
	f.addJob(job)
	for i := range 3 {
		f.addPods(withCondition(failedPod(fmt.Sprintf("ignored-%d", 2-i)), corev1.DisruptionTarget))
	}
	f.addPods(failedPod("c-2", exited("main", 1, "")), failedPod("c-1", exited("main", 1, "")), failedPod("c-3", exited("main", 2, "")))
	trouble := errors.New("connection lost")
	f.statusErr, f.fail = trouble, func(reconcile.PodRef) error { return trouble }
	f.fails()
	if events.heard(eventPodFailed) {
		t.Errorf("nothing is stored: %q", events.texts)
	}
	events.texts = nil

	f.fail = never
	f.fails()
	events.want(t, "pods are let go", "Warning PodFailed: Pod has condition DisruptionTarget; rule 0 of the podFailurePolicy matched: Ignore. First in pod ignored-0")

	f.statusErr, f.fail = nil, func(reconcile.PodRef) error { return trouble }
	f.fails()
	const none = "; no rule of the podFailurePolicy matched. First in pod c-"
	events.want(t, "the status is stored", "Warning PodFailed: Container main exited with code 1"+none+"1", "Warning PodFailed: Container main exited with code 2"+none+"3")

	// A reported cause is not reported again.
	f.fail = never
	f.syncs()
	if events.heard(eventPodFailed) {
		t.Errorf("again: %q", events.texts)
	}
}

func withReason(pod *corev1.Pod, reason string) *corev1.Pod {
	pod.Status.Reason = reason
	return pod
}
