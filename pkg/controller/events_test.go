package controller

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Every event but that of a rejected status says what a Finding says; one that tells of a
// condition comes with the write that brought the condition, and only then (JOB-47,
// PFN-15).
func TestEventsFollowFromFindings_JOB_47_PFN_15(t *testing.T) {
	all := map[batchv1.JobConditionType]bool{batchv1.JobFailed: true, batchv1.JobComplete: true, batchv1.JobSuspended: true}
	for name, c := range map[string]struct {
		finding reconcile.Finding
		want    event
	}{
		"failed": {reconcile.Finding{Kind: reconcile.FindingFinished, Explains: "Failed", Reason: "PodFailurePolicy_x", Message: "m"},
			event{"Warning", "PodFailurePolicy_x", "m"}},
		"more than enough": {reconcile.Finding{Kind: reconcile.FindingTooManySucceeded, Explains: reconcile.ExplainsEvent + "TooManySucceededPods", Message: "m"},
			event{"Warning", "TooManySucceededPods", "m"}},
		"complete":  {reconcile.Finding{Kind: reconcile.FindingFinished, Explains: "Complete", Reason: "CompletionsReached", Message: "m"}, event{"Normal", "Completed", "Job completed"}},
		"suspended": {reconcile.Finding{Kind: reconcile.FindingSuspended, Explains: "Suspended", Message: "Job suspended"}, event{"Normal", "Suspended", "Job suspended"}},
		"resumed":   {reconcile.Finding{Kind: reconcile.FindingResumed, Explains: "Suspended", Message: "Job resumed"}, event{"Normal", "Resumed", "Job resumed"}},
	} {
		if got, is := eventOf(c.finding, all); !is || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, is)
		}
		if _, is := standingEventOf(c.finding); is {
			t.Errorf("%s: told before it is stored", name)
		}
		if _, is := eventOf(c.finding, nil); is {
			t.Errorf("%s: told though the condition is not new", name)
		}
	}
	// Pods that keep a Job from being suspended are no event.
	if e, is := eventOf(reconcile.Finding{Kind: reconcile.FindingSuspended}, all); is {
		t.Errorf("%+v", e)
	}
}

// What is wrong with a Job as it is becomes a Warning with the reason that the Finding names
// (PFN-25, BLI-40).
func TestProblemsOfTheSpecAreWarnings_PFN_25_BLI_40(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{rulename.Annotation: "0=a;0=b"}}}
	job.Spec.CompletionMode, job.Spec.Completions, job.Spec.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1), ptr.To[int32](1)
	job.Spec.BackoffLimitPerIndex = ptr.To[int32](1)
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{}}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	reasons := map[string]bool{}
	for _, f := range reconcile.Compute(reconcile.Observation{Job: job}, reconcile.DefaultConfig()).Findings {
		if e, is := standingEventOf(f); is {
			reasons[e.reason] = true
			if e.kind != corev1.EventTypeWarning || e.message != f.Message || e.message == "" {
				t.Errorf("%+v", e)
			}
		}
	}
	if len(reasons) != 2 || !reasons["InvalidPodFailurePolicyRuleNames"] || !reasons["BackoffLimitPerIndexOnFailure"] {
		t.Errorf("%v", reasons)
	}
	unknown, is := standingEventOf(reconcile.Finding{Kind: reconcile.FindingUnknownMode, Message: "Weird"})
	if !is || unknown.reason != "UnknownCompletionMode" || !strings.Contains(unknown.message, "Weird") {
		t.Errorf("%+v", unknown)
	}
}

// JOB-64, JOB-47: a Job that gets no pods because of its spec.scheduling gets one event about it.
func TestUnsupportedSchedulingIsSaidOnce_JOB_64(t *testing.T) {
	f, said := newTalkingCluster(t)
	job := ourJob(1)
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
	}}
	f.addJob(job)
	for range 2 {
		if err := f.sync(); err != nil {
			t.Fatal(err)
		}
	}
	said.want(t, "a gang", "Warning SchedulingNotSupported: No pods are created: the Job asks for workload-aware scheduling (spec.scheduling.schedulingPolicy.gang), which this controller does not support")
}
