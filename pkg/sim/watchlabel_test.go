package sim_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/scenario"
)

// ownedPod creates a pod of a Job that lacks the label by which the controller watches.
func ownedPod(t *testing.T, w *checker.World, job, name string) {
	t.Helper()
	owner := w.Store.Job(job)
	template := owner.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name, pod.Namespace = name, sim.Namespace
	pod.OwnerReferences, pod.Finalizers = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("Job"))}, []string{batchv1.JobTrackingFinalizer}
	if _, err := w.Store.CreatePod(pod); err != nil {
		t.Fatal(err)
	}
}

func jobOfTwo(managedBy string) batchv1.JobSpec {
	return batchv1.JobSpec{
		ManagedBy: &managedBy, Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](2),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "none"}}}},
	}
}

// A late request of an older version creates a pod of a Job that has finished: it is released.
func TestLatePodWithoutTheLabelIsReleased_IDL_03(t *testing.T) {
	w := checker.NewWorld(sim.Options{})
	scenario.Must(w.CreateJob("a", jobOfTwo(controller.DefaultManagedBy), sim.Script{}))
	if !w.RunUntil(func() bool { return w.Finished("a") }, time.Minute) {
		t.Fatal("the Job does not finish")
	}
	ownedPod(t, w, "a", "late")
	if !w.RunUntil(func() bool { return !checker.Tracked(w.Store.Pods()["late"]) }, sim.SweepPeriod+time.Second) {
		t.Errorf("the pod holds its finalizer: %v", w.Store.Pods()["late"].Finalizers)
	}
	if problems := w.Checker.Violations; len(problems) > 0 {
		t.Error(problems)
	}
}

// Pods of another controller's Job change, and no event of them reaches ours.
func TestPodsOfOthersAreNotDelivered_IDL_01(t *testing.T) {
	events := 0
	w := checker.NewWorld(sim.Options{WatchFault: func() sim.WatchFault { events++; return sim.WatchFault{} }})
	scenario.Must(w.CreateJob("other", jobOfTwo("example.com/other"), sim.Script{}))
	w.RunUntil(func() bool { return false }, time.Second)
	before := events
	for _, name := range []string{"other-1", "other-2"} {
		ownedPod(t, w, "other", name)
	}
	w.RunUntil(func() bool { return false }, time.Hour)
	if pod := w.Store.Pods()["other-1"]; !history.HasEnded(pod) || !checker.Tracked(pod) {
		t.Errorf("the pod has not run, or is not as its controller left it: %+v", pod)
	}
	if events > before {
		t.Errorf("%d events", events-before)
	}
}
