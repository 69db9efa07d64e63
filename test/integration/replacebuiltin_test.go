package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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
	pod := f.createPodOf(job)
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
	gone := f.create(named("gone", newJob(managedBy(""), completions(2), selecting("app", "gone"))))
	orphan := func(app string) types.UID {
		pod := f.createPod(map[string]string{"app": app}, func(pod *corev1.Pod) {
			pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(gone, batchv1.SchemeGroupVersion.WithKind("Job"))}
		})
		f.dropOwners(pod)
		return pod.UID
	}
	left, wanted := orphan("gone"), orphan("other")
	f.deleteJob("gone", metav1.DeletePropagationBackground)
	f.create(named("other", newJob(managedBy(otherController), completions(1), selecting("app", "other"))))
	f.startController(replacing)
	f.until("the pod that nobody wants is let go", func() bool { now := f.history.pod(left); return now == nil || !history.IsTracked(now) })
	if now := f.history.pod(wanted); !history.IsTracked(now) {
		t.Error("the pod that another Job may adopt lost its finalizer")
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
