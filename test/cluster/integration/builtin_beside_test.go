//go:build builtin

package integration

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// These tests do not run in parallel with others, because kube-controller-manager works on all namespaces.

// builtinManager is kube-controller-manager's name in managedFields.
const builtinManager = "kube-controller-manager"

// While our controller is stopped, the built-in one leaves our pods alone; when their Job is deleted, it releases them.
// Requirements: MGB-05, TRK-22, TRK-35
func TestBeside_FinalizersStayAsLongAsTheJob(t *testing.T) {
	startBuiltin(t, "job-controller", "garbage-collector-controller")
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(3), parallelism(2)))
	pods := f.untilActive(2)
	p.stop()
	f.kubelet.succeed(pods[0])

	// When a later Job is complete, the built-in controller has seen all of this.
	f.create(named("builtin", newJob(managedBy(""), completions(1))))
	f.kubelet.succeed(f.untilPods(1, "of the built-in controller", func(pod *corev1.Pod) bool {
		return pod.Labels[batchv1.JobNameLabel] == "builtin"
	})...)
	f.untilComplete("builtin", 1, 0)
	for _, pod := range pods {
		if now := f.history.pod(pod.UID); now == nil || !history.IsTracked(now) {
			t.Errorf("pod %s of our Job has lost its finalizer", pod.Name)
		}
	}
	f.deleteJob("a", metav1.DeletePropagationBackground)
	f.until("our pods are gone", func() bool {
		return f.history.pod(pods[0].UID) == nil && f.history.pod(pods[1].UID) == nil
	})
}

// A Job is deleted while no controller runs, with the real garbage collector: the next controller releases its pods.
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
	f.kubelet.play(everySucceeds)
	f.createDueCronJob("nightly", newJob(managedBy("")).Spec)
	var job *batchv1.Job
	f.until("the CronJob's Job is complete", func() bool {
		for _, v := range f.history.stored() {
			if v.Job != nil {
				job = v.Job
			}
		}
		return job != nil && history.Is(job, batchv1.JobComplete)
	})
	assert.Equal(t, whose(job), controller.DefaultManagedBy, "managedBy")
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
	assert.Equal(t, len(a.policies), 3)
}

var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}
