package advice_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// CLI-06: who may resume a suspended Job.
func TestExplanationNamesWhoMayResume(t *testing.T) {
	suspended := func(change func(*batchv1.Job)) explain.Report {
		return explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
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
	explaintest.WantText(t, r, `patch job train --type merge -p '{"spec":{"suspend":false}}'`)
	explaintest.WantWithout(t, r, "up to its owner")
	explaintest.WantText(t, suspended(owned("JobSet")), "which its owner JobSet parent controls", "kubectl get jobset parent -n ns")
	explaintest.WantWithout(t, suspended(owned("--server=https://evil.example")), "kubectl get --server") // BUN-11: the API server accepts any kind.

	r = suspended(func(j *batchv1.Job) {
		j.Spec.ManagedBy, j.Status = ptr.To("kueue.x-k8s.io/multikueue"), batchv1.JobStatus{}
	})
	explaintest.WantText(t, r, "Kueue keeps the Job suspended", "find out why Kueue does not admit it")
	explaintest.WantWithout(t, r, "does not seem to be running", `"suspend":false`)
	if r.Reconciler.Alive == explain.NotAlive {
		t.Errorf("%+v", r.Reconciler)
	}
	r = suspended(func(j *batchv1.Job) { j.Spec.ManagedBy, j.Status = ptr.To(recorded.OurName), batchv1.JobStatus{} })
	explaintest.WantText(t, r, "no such controller seems to be running") // Our controller also writes a status for suspended Jobs.
}

// CLI-06: no useless command is advised: forced deletion does not remove the finalizer.
func TestForcedDeletionIsNotAdvised(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }), explaintest.PodOf("lost", func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(time.Hour)), ptr.To[int64](30)
	}))
	f.GoneNodes = map[string]string{"node-1": "it does not respond"}
	r := explaintest.Report(f)
	explaintest.Problem(t, r, explain.ProblemNodeGone)
	explaintest.WantText(t, r, "kubectl delete node node-1")
	explaintest.WantWithout(t, r, "--force")
}

// A Job that waits for the finalizer of another controller does not wait for its pods.
// Requirements: CLI-06
func TestFinalizerThatHoldsTheJobIsNamed(t *testing.T) {
	deleted := func(finalizer string) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(explaintest.Ago(time.Minute)), []string{finalizer}
		})
	}
	r := explaintest.Report(explaintest.InputOf(deleted("example.com/audit")))
	explaintest.WantText(t, r, "find out who owns example.com/audit", "kubectl get job train -o jsonpath='{.metadata.finalizers}' -n ns")
	explaintest.WantWithout(t, r, "which of its pods are left")
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(deleted("foregroundDeletion"), explaintest.PodOf("train-x", nil))), "which of its pods are left")
}

// The pods of a Job with a manual selector are listed by it: they may lack the label of the Job's name.
// Requirements: CLI-06
func TestPodsOfAManualSelectorAreListedByIt(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.DeletionTimestamp, j.Finalizers = ptr.To(explaintest.Ago(time.Minute)), []string{metav1.FinalizerDeleteDependents}
		j.Spec.ManualSelector, j.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "train", "run": "7"}}
	})
	advice := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("train-a", nil))).Advice
	if len(advice) != 1 || advice[0].Command != "kubectl get pods -l 'app=train,run=7' -n ns" {
		t.Errorf("%+v", advice)
	}
}
