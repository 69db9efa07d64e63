//go:build builtin

package integration

import (
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A Job is deleted while no controller runs, with the real garbage collector: the next controller releases its pods.
// This test does not run in parallel with others, because the collector works on all namespaces.
// Requirements: TRK-20, TRK-22
func TestBeside_JobIsDeletedMeanwhileWithGarbageCollector(t *testing.T) {
	startBuiltin(t, "garbage-collector-controller")
	for _, policy := range propagations {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(3), parallelism(2)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			p.stop()
			f.deleteJob("a", policy)
			left := 0
			if policy == metav1.DeletePropagationOrphan {
				left = 2
				f.until("the Job is gone", func() bool { return f.history.job("a") == nil })
			} else {
				f.untilPods(2, "terminating", history.IsTerminating)
			}
			f.startController()
			f.untilPods(left, "left", anyPod)
			f.untilReleased()
			f.until("the Job is gone", func() bool { return f.history.job("a") == nil })
			if policy == metav1.DeletePropagationOrphan && metav1.GetControllerOf(f.history.pod(pods[0].UID)) != nil {
				t.Error("the pod has an owner")
			}
			f.wantPodsEver(2)
		})
	}
}

// CLI-04: Jobs of the built-in controller are explained as well as ours. It does not know the names of rules; they come
// from the annotation.
func TestBeside_JobsOfTheBuiltinControllerAreExplained(t *testing.T) {
	startBuiltin(t, "job-controller")
	f := newFixture(t)
	pod := f.failByRule(corruptJob(managedBy("")))
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy", 0, 1)
	r := f.explanation("a")
	wantRuleNamed(t, r, pod.Name, "Corrupt")
	if r.Reconciler.Manager != builtinManager || r.Reconciler.ManagedBy != "" || r.Reconciler.Ours {
		t.Errorf("%+v", r.Reconciler)
	}
}

// Requirements: RTY-47
func TestBeside_RunningJobOfTheBuiltinControllerGetsMoreMemory(t *testing.T) {
	startBuiltin(t, "job-controller")
	testInPlace(t, true)
}

// Requirements: RTY-01, RTY-03, RTY-04, RTY-18
func TestBeside_RetryWithTheBuiltinController(t *testing.T) {
	startBuiltin(t, "job-controller")
	testRetryCases(t, true)
}

// CronJobs do not set managedBy. Their Jobs in a labeled namespace are ours, and run to their end.
func TestBeside_CronJobsOfLabeledNamespacesAreOurs(t *testing.T) {
	f := newFixture(t)
	label(t, f.client, f.namespace, managedLabel, ptr.To("true"))
	applyManagedBy(t, f.client, f.namespace)
	startBuiltin(t, "cronjob-controller")
	f.startController()
	now := time.Now().UTC()
	cron, err := f.client.BatchV1().CronJobs(f.namespace).Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: batchv1.CronJobSpec{
			Schedule: fmt.Sprintf("%d * * * *", now.Add(-5*time.Minute).Minute()), TimeZone: ptr.To("UTC"),
			JobTemplate: batchv1.JobTemplateSpec{Spec: newJob(managedBy("")).Spec},
		},
	}, metav1.CreateOptions{})
	if err == nil {
		// The run of five minutes ago was missed; it starts now.
		cron.Status.LastScheduleTime = ptr.To(metav1.NewTime(now.Add(-6 * time.Minute)))
		_, err = f.client.BatchV1().CronJobs(f.namespace).UpdateStatus(t.Context(), cron, metav1.UpdateOptions{})
	}
	assert.NoError(t, err)
	var job *batchv1.Job
	f.until("the CronJob has made a Job", func() bool {
		for _, v := range f.history.sorted() {
			if v.job != nil {
				job = v.job
			}
		}
		return job != nil
	})
	if got := whose(job); got != controller.DefaultManagedBy {
		t.Fatalf("the CronJob's Job has managedBy %q", got)
	}
	f.runToCompletion(job.Name)
}

// The API server checks the expressions against the schema of a Job, in a controller of its own, and reports problems in
// the policy's status. That controller writes nothing else, so this test disturbs no other.
// Requirements: PFN-26
func TestBeside_AdmissionPoliciesPassTypeChecks(t *testing.T) {
	a := newAdmission(t)
	startBuiltin(t, "validatingadmissionpolicy-status-controller")
	for _, name := range a.policies {
		var policy *admissionv1.ValidatingAdmissionPolicy
		a.until("the policy is checked", func() bool {
			var err error
			if policy, err = a.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			return policy.Status.TypeChecking != nil && policy.Status.ObservedGeneration == policy.Generation
		})
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s: %s: %s", name, warning.FieldRef, warning.Warning)
		}
	}
	if len(a.policies) != 3 {
		t.Errorf("%d policies, want 3", len(a.policies))
	}
}

var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}
