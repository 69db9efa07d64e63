package analysis_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// sentences returns the sentences of a report.
func sentences(r explain.Report) string {
	all := []string{verdict(r)}
	for _, p := range r.Problems {
		all = append(all, p.Text)
	}
	for _, s := range r.Next {
		all = append(all, s.Text)
	}
	for _, a := range r.Advice {
		all = append(all, a.Text, a.Command)
	}
	for _, e := range r.Evidence {
		all = append(all, e.Text)
	}
	return strings.Join(all, "\n")
}

func wantText(t *testing.T, r explain.Report, want ...string) {
	t.Helper()
	for _, w := range want {
		assert.Contains(t, sentences(r), w)
	}
}

func wantWithout(t *testing.T, r explain.Report, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		assert.NotContains(t, sentences(r), u)
	}
}

// CLI-06: the back-off starts with failed pods; when they no longer exist, its end is unknown.
func TestBackoffWithoutPodsHasNoEnd(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }))
	wantText(t, report(f), "at most 10 minutes after the last failure")
	wantWithout(t, report(f), "2 pods are created")
	f = factsOf(jobWith(nil))
	wantText(t, report(f), "2 pods are created")
}

// CLI-03: a Job with a failed index cannot become complete, except by its successPolicy.
func TestFailedIndexDoomsTheJob(t *testing.T) {
	lost := func(j *batchv1.Job) { j.Status.FailedIndexes, j.Status.Failed = ptr.To("1"), 4 }
	r := report(factsOf(indexedJob(5, lost), podOf("a", onIndex(0, 1, nil))))
	wantText(t, r, "it will eventually fail, because 1 index has failed", "the Job fails (FailedIndexes) once its other indexes have ended")
	r = report(factsOf(indexedJob(5, func(j *batchv1.Job) {
		lost(j)
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	}), podOf("a", onIndex(0, 1, nil))))
	wantWithout(t, r, "will fail in the end", "FailedIndexes")
}

// CLI-06: with parallelism 0, no pods are created.
func TestParallelismZeroAsksForNothing(t *testing.T) {
	r := report(factsOf(jobWith(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) })))
	if problem(t, r, explain.ProblemNoParallelism); !r.Verdict.Stalled {
		t.Errorf("%+v", r.Verdict)
	}
	wantText(t, r, "parallelism is 0, so no pods are created", `kubectl patch job train --type merge -p '{"spec":{"parallelism":1}}' -n ns`, "nothing happens until this changes")
}

// CLI-04: pods deleted by another client are the cause of BackoffLimitExceeded if there are no other failures, even in the
// second of the decision.
func TestDeletedPodsAreTheCause(t *testing.T) {
	job := func(limit int32) *batchv1.Job {
		return jobWith(func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = &limit, 2
			ended(j, "BackoffLimitExceeded", "")
		})
	}
	deleted := failedEvent(deletedPod, "x", 2, 0)
	deleted.First = noon.Add(-10 * time.Minute) // when the condition was set
	f := factsOf(job(0))
	f.Events = []input.Event{deleted}
	r := report(f)
	if len(r.Causes) != 1 || r.Causes[0].Consequence {
		t.Errorf("%+v", r.Causes)
	}
	wantText(t, r, "pod was deleted before it ended", "find out what deletes or evicts the Job's pods")

	f = factsOf(job(0), podOf("a", exits(1, "Error", 11*time.Minute)))
	f.Events = []input.Event{deleted}
	if r = report(f); len(r.Causes) != 2 || !r.Causes[1].Consequence {
		t.Errorf("%+v", r.Causes)
	}
	wantWithout(t, r, "find out what deletes or evicts")
}

// TRK-01: a pod that was counted as deleted, and later ended differently, is one failure.
// Requirements: CLI-04
func TestOneFailureIsNotTwo(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Status.Failed = 3
		ended(j, "BackoffLimitExceeded", "")
	}), podOf("a", exits(4, "Error", 11*time.Minute)), podOf("b", exits(4, "Error", 11*time.Minute)))
	f.Events = []input.Event{failedEvent(deletedPod, "a", 2, 9*time.Minute)}
	sum := int32(0)
	r := report(f)
	for _, c := range r.Causes {
		sum += c.Count
	}
	assert.Equalf(t, sum+r.FailuresWithoutPod, 3, "3 failures are %d: %+v", sum, r.Causes)
}

// CLI-04: --index and --pod do not change the verdict on the Job.
func TestFocusLeavesTheVerdict(t *testing.T) {
	f := factsOf(indexedJob(3, func(j *batchv1.Job) {
		j.Status.Failed, j.Status.FailedIndexes = 2, ptr.To("2")
		ended(j, "FailedIndexes", "")
	}), podOf("good", onIndex(0, 1, exits(7, "Error", 20*time.Minute))), podOf("bad", onIndex(2, 4, exits(9, "Error", 11*time.Minute))))
	whole := report(f)
	r := analysis.Explain(f, explain.Options{Indexes: indexset.Of(0)})
	if verdict(r) != verdict(whole) || !strings.Contains(verdict(r), "code 9") {
		t.Errorf("%s; of all: %s", verdict(r), verdict(whole))
	}
	if len(r.Causes) != 1 || *r.Causes[0].ExitCode != 7 || len(r.Pods) != 1 || len(r.Indexes.Details) != 1 {
		t.Errorf("%+v", r)
	}
	r = analysis.Explain(f, explain.Options{Indexes: indexset.Of(1)})
	wantWithout(t, r, "let nothing delete failed pods")
}

// CLI-06: who may resume a suspended Job.
func TestExplanationNamesWhoMayResume(t *testing.T) {
	suspended := func(change func(*batchv1.Job)) explain.Report {
		return report(factsOf(jobWith(func(j *batchv1.Job) {
			j.Spec.Suspend = ptr.To(true)
			change(j)
		})))
	}
	owned := func(kind string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: kind, Name: "parent", Controller: ptr.To(true)}}
		}
	}
	r := suspended(owned("CronJob"))
	wantText(t, r, `patch job train --type merge -p '{"spec":{"suspend":false}}'`)
	wantWithout(t, r, "up to its owner")
	wantText(t, suspended(owned("JobSet")), "which its owner JobSet parent controls", "kubectl get jobset parent -n ns")
	wantWithout(t, suspended(owned("--server=https://evil.example")), "kubectl get --server") // BUN-11: the API server accepts any kind.

	r = suspended(func(j *batchv1.Job) {
		j.Spec.ManagedBy, j.Status = ptr.To("kueue.x-k8s.io/multikueue"), batchv1.JobStatus{}
	})
	wantText(t, r, "Kueue keeps the Job suspended", "find out why Kueue does not admit it")
	wantWithout(t, r, "does not seem to be running", `"suspend":false`)
	if r.Reconciler.Alive == explain.NotAlive {
		t.Errorf("%+v", r.Reconciler)
	}
	r = suspended(func(j *batchv1.Job) { j.Spec.ManagedBy, j.Status = ptr.To(recorded.OurName), batchv1.JobStatus{} })
	wantText(t, r, "no such controller seems to be running") // Our controller also writes a status for suspended Jobs.
}

// CLI-06: no useless command is advised: forced deletion does not remove the finalizer.
func TestForcedDeletionIsNotAdvised(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }), podOf("lost", func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(time.Hour)), ptr.To[int64](30)
	}))
	f.GoneNodes = map[string]string{"node-1": "it does not respond"}
	r := report(f)
	problem(t, r, explain.ProblemNodeGone)
	wantText(t, r, "kubectl delete node node-1")
	wantWithout(t, r, "--force")
}

// PFP-05: ignored failures are retried without end.
// Requirements: CLI-06
func TestIgnoredFailuresAreRetriedWithoutEnd(t *testing.T) {
	ignoring := func(change func(*batchv1.Job)) explain.Report {
		job := jobWith(func(j *batchv1.Job) {
			j.Spec.PodFailurePolicy = rules(1)
			j.Spec.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionIgnore
			change(j)
		})
		return report(factsOf(job, podOf("a", exits(1, "Error", time.Hour)), podOf("b", exits(1, "Error", 50*time.Minute))))
	}
	wantText(t, ignoring(func(*batchv1.Job) {}), "set activeDeadlineSeconds, or change the action of the rule to Count")
	wantWithout(t, ignoring(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](1 << 30) }), "retried without end")
}

// CLI-04: a restarted container shows the reason from before it was stopped with its Job.
func TestRestartedContainerKeepsItsReason(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy, j.Status.Failed = corev1.RestartPolicyOnFailure, 1
		ended(j, "BackoffLimitExceeded", "")
	}), podOf("a", func(p *corev1.Pod) {
		exits(143, "Error", 9*time.Minute)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(9*time.Minute)), ptr.To[int64](30)
		p.Status.ContainerStatuses[0].RestartCount = 6
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 9, Reason: "Error", Message: "no licence"}
	}))
	r := report(f)
	wantText(t, r, "exited with code 9", "kubectl logs a --previous -n ns")
	wantWithout(t, r, "is gone", "action FailJob")
}

// BLI-04: ignored attempts are added to the attempts that the limit allows.
// Requirements: CLI-04
func TestIgnoredAttemptsComeOnTop(t *testing.T) {
	f := factsOf(indexedJob(2, func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](1) }), podOf("a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{
			batchv1.JobCompletionIndexAnnotation: "0", "batchjob.dev/attempt": "4",
			batchv1.JobIndexFailureCountAnnotation: "1", batchv1.JobIndexIgnoredFailureCountAnnotation: "2",
		}
	}))
	if d := report(f).Indexes.Details; len(d) != 1 || d[0].Attempt != 4 || d[0].Attempts != 4 {
		t.Errorf("%+v", d)
	}
}

// PFP-03: a rule never matches exit code 0, whatever it lists.
func TestExitCodeZeroIsNeverListed(t *testing.T) {
	policy := rules(1)
	policy.Rules[0].OnExitCodes.Operator, policy.Rules[0].OnExitCodes.Values = batchv1.PodFailurePolicyOnExitCodesOpNotIn, []int32{0, 42}
	r := report(factsOf(jobWith(func(j *batchv1.Job) { j.Spec.PodFailurePolicy = policy })))
	assert.Equal(t, r.FailurePolicy.Rules[0].Requirement, "any container exits with a code other than 0 and 42")
}

// CLI-06: each kind of refusal has advice.
func TestRefusalHasAdvice(t *testing.T) {
	for message, want := range map[string]string{
		`error looking up service account ns/robot: serviceaccount "robot" not found`: "create ServiceAccount robot; the controller then retries automatically\nkubectl create serviceaccount robot -n ns",
		`pods "x" is forbidden: no PriorityClass with name nope was found`:            "create PriorityClass nope, or recreate the Job with another priorityClassName; the controller then retries automatically",
		`pods "x" is forbidden: pod rejected: RuntimeClass "gvisor" not found`:        "create RuntimeClass gvisor, or recreate the Job with another runtimeClassName",
		`failed calling webhook "guard": connection refused`:                          "kubectl get validatingwebhookconfigurations",
		`exceeded quota: compute`:                     "describe resourcequota",
		`Pod "x" is invalid: spec: Required value`:    "recreate the Job",
		`ValidatingAdmissionPolicy 'p' denied it: no`: "recreate the Job",
	} {
		f := factsOf(jobWith(nil))
		f.Events = []input.Event{jobEvent("FailedCreate", message, 4, time.Minute)}
		wantText(t, report(f), want)
	}
}

// CLI-04: the same for a pod that still exists and was deleted in the second of the decision.
func TestPodDeletedInTheLastSecondIsTheCause(t *testing.T) {
	deleted := podOf("a", func(p *corev1.Pod) {
		exits(143, "Error", 9*time.Minute)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(10*time.Minute-30*time.Second)), ptr.To[int64](30)
	})
	for limit, consequence := range map[int32]bool{0: false, -1: true} {
		r := report(factsOf(jobWith(func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = &limit, 1
			ended(j, "BackoffLimitExceeded", "")
		}), deleted))
		if len(r.Causes) != 1 || r.Causes[0].Consequence != consequence {
			t.Errorf("backoffLimit %d: %+v", limit, r.Causes)
		}
	}
}

// MGB-12: a huge Job has more time for its first pods, but only for the pods that are created at once.
func TestHugeJobHasMoreTimeForItsFirstPods(t *testing.T) {
	huge := jobWith(func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Spec.Completions, j.Status = ptr.To[int32](1<<30), ptr.To[int32](1<<30), batchv1.JobStatus{}
	})
	for after, want := range map[time.Duration][2]bool{12 * time.Second: {false, false}, 21 * time.Second: {true, false}, 4 * time.Minute: {true, true}} {
		f := factsOf(huge)
		f.Now = huge.CreationTimestamp.Add(after)
		if got := [2]bool{hasProblem(report(f), explain.ProblemNotReconciled), analysis.IsNeglected(huge, f.Now)}; got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
}

// A Job that waits for the finalizer of another controller does not wait for its pods.
// Requirements: CLI-06
func TestFinalizerThatHoldsTheJobIsNamed(t *testing.T) {
	deleted := func(finalizer string) *batchv1.Job {
		return jobWith(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(ago(time.Minute)), []string{finalizer}
		})
	}
	r := report(factsOf(deleted("example.com/audit")))
	wantText(t, r, "find out who owns example.com/audit", "kubectl get job train -o jsonpath='{.metadata.finalizers}' -n ns")
	wantWithout(t, r, "which of its pods are left")
	wantText(t, report(factsOf(deleted("foregroundDeletion"), podOf("train-x", nil))), "which of its pods are left")
}

// A pod that was deleted while it ran did not fail before: the kubelet's event shows it.
// Requirements: CLI-04
func TestRunningPodThatWasDeleted(t *testing.T) {
	killing := func(message string) input.Input {
		f := factsOf(jobWith(func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](0), 1
			ended(j, batchv1.JobReasonBackoffLimitExceeded, "")
		}))
		e := input.Event{Pod: "train-x", Type: "Normal", Reason: "Killing", Message: message, Count: 1, First: noon.Add(-11 * time.Minute), Last: noon.Add(-11 * time.Minute)}
		f.Events = []input.Event{e}
		return f
	}
	r := report(killing("Stopping container main"))
	if len(r.Causes) != 1 || r.Causes[0].Consequence || r.FailuresWithoutPod != 0 {
		t.Errorf("%+v", r.Causes)
	}
	wantText(t, r, "find out what deletes or evicts the Job's pods")
	wantWithout(t, r, "keep failed pods")
	r = report(killing("Container main failed liveness probe, will be restarted"))
	assert.Equal(t, len(r.Causes), 0, r.Causes)
	wantWithout(t, r, "keep failed pods")
}

// The evidence names the preemption, so the advice does not ask to search for another cause.
// Requirements: CLI-06
func TestPreemptedPodHasItsOwnAdvice(t *testing.T) {
	r := report(factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), podOf("a", func(p *corev1.Pod) {
		exits(137, "Error", time.Minute)(p)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler"}}
	})))
	wantText(t, r, "give its pods a higher priority (priorityClassName)")
	wantWithout(t, r, "liveness probe", "low on memory")
}

// Half of the failures are not most of them.
// Requirements: CLI-04
func TestMostlyIsMoreThanHalf(t *testing.T) {
	pods := func(codes ...int32) []*input.Pod {
		var all []*input.Pod
		for i, code := range codes {
			all = append(all, podOf(string(rune('a'+i)), exits(code, "Error", time.Minute)))
		}
		return all
	}
	for want, codes := range map[string][]int32{"1 of 2: ": {1, 2}, "mostly (2 of 3) ": {1, 1, 2}, "2 of 4: ": {1, 1, 2, 3}} {
		job := jobWith(func(j *batchv1.Job) { j.Status.Failed = int32(len(codes)) })
		wantText(t, report(factsOf(job, pods(codes...)...)), want)
	}
}

// The verdict on a failed Job includes the successes.
// Requirements: CLI-04
func TestFailedJobNamesWhatSucceeded(t *testing.T) {
	r := report(factsOf(indexedJob(6, func(j *batchv1.Job) {
		j.Status.CompletedIndexes, j.Status.Succeeded, j.Status.FailedIndexes, j.Status.Failed = "0-3", 4, ptr.To("4,5"), 2
		ended(j, batchv1.JobReasonFailedIndexes, "")
	})))
	if want := "2 of its 6 indexes failed; 4 of 6 indexes succeeded."; !strings.HasSuffix(verdict(r), want) || r.Verdict.Why+"." != "FailedIndexes: "+want {
		t.Errorf("%s, why %s", verdict(r), r.Verdict.Why)
	}
}

// verdict returns the clauses of the verdict as one sentence, however long it is.
func verdict(r explain.Report) string { return strings.Join(r.Verdict.Clauses, "; ") + "." }
