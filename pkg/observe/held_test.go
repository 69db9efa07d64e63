package observe

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// TRK-30: every finished pod with the tracking finalizer is reported once, and once more when it no longer has it,
// whoever changed it; pods of other controllers, and pods that never finished, are not reported.
func TestHeldFinalizersAreReportedOnce(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	added, deleted := 0, 0
	c.OnHeld(func(job *batchv1.Job, _ *reconcile.Pod, held bool) bool {
		switch {
		case !held:
			deleted++
		case job.UID == "ours":
			added++
		default:
			return false
		}
		return true
	})
	for _, uid := range []string{"ours", "others"} {
		job := testJob("x", nil)
		job.Name, job.UID, job.ResourceVersion = uid, "ours", "1"
		if uid == "others" {
			job.UID = "others"
		}
		_ = c.JobStore("").Add(job)
	}
	pods := c.PodStore("")
	tracked := func(pod *corev1.Pod) *corev1.Pod {
		pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
		return pod
	}
	want := func(what string, wantAdded, wantDeleted int) {
		t.Helper()
		if added != wantAdded || deleted != wantDeleted {
			t.Errorf("%s: %d added, %d deleted; want %d, %d", what, added, deleted, wantAdded, wantDeleted)
		}
	}
	_ = pods.Add(tracked(testPod("a", "ours", 2, corev1.PodRunning)))
	_ = pods.Add(tracked(testPod("b", "others", 3, corev1.PodFailed)))
	want("running, and another's", 0, 0)
	_ = pods.Update(tracked(testPod("a", "ours", 4, corev1.PodSucceeded)))
	_ = pods.Update(tracked(testPod("a", "ours", 5, corev1.PodSucceeded)))
	want("finished, and changed again", 1, 0)
	c.WrotePod(testPod("a", "ours", 6, corev1.PodSucceeded))
	_ = pods.Update(testPod("a", "ours", 6, corev1.PodSucceeded))
	_ = pods.Delete(testPod("a", "ours", 7, corev1.PodSucceeded))
	want("freed by an own write, which the watch brings too", 1, 1)
	_ = pods.Add(tracked(testPod("c", "ours", 8, corev1.PodFailed)))
	_ = pods.Delete(testPod("c", "ours", 9, corev1.PodFailed))
	_ = pods.Update(testPod("b", "others", 10, corev1.PodFailed))
	want("gone with the finalizer", 2, 2)
}
