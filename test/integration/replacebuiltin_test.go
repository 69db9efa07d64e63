package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// replacing makes a controller that stands in for the built-in one.
func replacing(c *controller.Config) { c.ReplaceBuiltin = true }

// Where there is no built-in controller, Jobs of nobody and of the reserved name are
// ours too, and another controller's are not.
func TestReplacesTheBuiltinController_MGB_02(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ours = func(job *batchv1.Job) bool { return ptr.Deref(job.Spec.ManagedBy, "") != otherController }
	f.startController(replacing)
	f.kubelet.play(everySucceeds)
	f.create(newJob(indexed(2)))
	f.create(named("nobody", newJob(managedBy(""), completions(2), parallelism(2))))
	f.create(named("reserved", newJob(managedBy(batchv1.JobControllerName), completions(1))))
	other := f.create(named("other", newJob(managedBy(otherController), completions(1))))
	f.untilComplete("a", 2, 0)
	f.untilComplete("nobody", 2, 0)
	f.untilComplete("reserved", 1, 0)
	f.untilReleased()
	f.wantUntouched(other)
}

// No other controller releases the pods of a deleted Job, no matter which controller created
// them or ran the Job (TRK-22).
func TestReplacementFreesAllPods_MGB_02_TRK_22(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ours = func(*batchv1.Job) bool { return true } // once they are gone
	job := f.create(named("other", newJob(managedBy(otherController), completions(1))))
	pod, err := f.client.CoreV1().Pods(f.namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "left", Labels: job.Spec.Template.Labels, Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.untilSeen(pod)
	f.startController(replacing)
	f.untilWorking()
	if now := f.history.pod(pod.UID); !history.IsTracked(now) {
		t.Error("the pod lost its finalizer while the Job of another controller was there")
	}
	f.deleteJob("other", metav1.DeletePropagationBackground)
	f.until("the pod is let go", func() bool { now := f.history.pod(pod.UID); return now == nil || !history.IsTracked(now) })
}

// TRK-20, TRK-22: pods of a Job with manualSelector do not name that Job once it is gone, as
// after kubectl delete --cascade=orphan while no controller runs. They are released,
// unless another Job may adopt them.
func TestReplacementFreesUnclaimedPods_TRK_20_TRK_22(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ours = func(*batchv1.Job) bool { return true } // once they are gone
	selecting := func(app string) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) {
			s.ManualSelector = ptr.To(true)
			s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
			s.Template.Labels = map[string]string{"app": app}
		}
	}
	gone := f.create(named("gone", newJob(managedBy(""), completions(2), selecting("gone"))))
	left, wanted := f.leavePod(gone, "left", "gone"), f.leavePod(gone, "wanted", "other")
	f.deleteJob("gone", metav1.DeletePropagationBackground)
	f.create(named("other", newJob(managedBy(otherController), completions(1), selecting("other"))))
	f.startController(replacing)
	f.until("the pod that nobody wants is let go", func() bool { now := f.history.pod(left); return now == nil || !history.IsTracked(now) })
	if now := f.history.pod(wanted); !history.IsTracked(now) {
		t.Error("the pod that another Job may adopt lost its finalizer")
	}
}

// leavePod makes a pod of the Job that has no owner anymore, as the garbage collector does
// with --cascade=orphan.
func (f *fixture) leavePod(job *batchv1.Job, name, app string) types.UID {
	f.t.Helper()
	pods := f.client.CoreV1().Pods(f.namespace)
	pod, err := pods.Create(f.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app": app}, Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	pod.OwnerReferences = nil
	if pod, err = pods.Update(f.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.untilSeen(pod)
	return pod.UID
}

// MGB-04: which controller a Job has cannot be changed, so there is nothing to hand over.
func TestManagedByIsImmutable_MGB_04(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(1)))
	f.create(named("asleep", newJob(completions(1), suspended)))
	f.create(named("nobody", newJob(managedBy(""), completions(1), suspended)))
	f.untilIs("asleep", batchv1.JobSuspended)
	for job, value := range map[string]string{"a": `"example.com/x"`, "asleep": "null", "nobody": `"` + controller.DefaultManagedBy + `"`} {
		patch := []byte(`{"spec":{"managedBy":` + value + `}}`)
		_, err := f.client.BatchV1().Jobs(f.namespace).Patch(t.Context(), job, types.MergePatchType, patch, metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "managedBy") {
			t.Errorf("Job %s, managedBy %s: %v", job, value, err)
		}
	}
}

// MGB-12: the log names whom a Job is left to, which shows a mistyped name.
func TestSkippedControllerIsLogged_MGB_12(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	other := f.create(named("mistyped", newJob(managedBy("batchjob.dev/controler"), completions(1))))
	f.create(named("nobody", newJob(managedBy(""), completions(1))))
	f.until("the log tells of the Job", func() bool { return strings.Contains(p.log.String(), `managedBy="batchjob.dev/controler"`) })
	f.wantUntouched(other)
	if strings.Contains(p.log.String(), "/nobody") {
		t.Error("the log tells of Jobs of the built-in controller, of which there are many")
	}
}
