package integration

import (
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// During a sync, the Job is deleted, and another Job with the same name is created for another controller. The new Job
// is not touched; the old Job's pods are released.
// Requirements: MGB-03, JOB-38, TRK-23
func TestJobIsRecreatedForAnother(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]match{
		"status write blocked":      statusPut,
		"creation blocked":          podPost,
		"removal of finalizer held": podPatch,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			held := p.wire.hold(blocked)
			f.create(newJob(completions(2), parallelism(2)))
			if blocked(call{method: http.MethodPatch, resource: "pods"}) {
				f.kubelet.succeed(f.untilActive(2)...)
			}
			f.until("the sync is blocked", func() bool { return held.count() > 0 })
			f.deleteJob("a", metav1.DeletePropagationBackground)
			foreign := f.create(newJob(managedBy(otherController), completions(2)))
			held.lift()

			// When a later Job is complete, the earlier sync has ended.
			f.create(named("later", newJob(completions(1))))
			f.kubelet.play(everySucceeds)
			f.untilComplete("later", 1, 0)
			f.untilReleased()
			f.wantUntouched(foreign)
		})
	}
}

// wantUntouched checks that the Job was not written since the test wrote it, and that no pod belongs to it.
func (f *fixture) wantUntouched(job *batchv1.Job) {
	f.t.Helper()
	now := f.history.job(job.Name)
	if now == nil || now.UID != job.UID || now.ResourceVersion != job.ResourceVersion || !equality.Semantic.DeepEqual(now.Status, batchv1.JobStatus{}) {
		f.t.Errorf("Job %s, managed by somebody else, was written: %+v", job.Name, now)
	}
	for _, v := range f.history.sorted() {
		if v.pod != nil && isOwnedBy(v.pod, job) {
			f.t.Errorf("pod %s was created for Job %s, which is managed by somebody else", v.pod.Name, job.Name)
		}
	}
}

// createPodOf creates a pod as the Job's controller would.
func (f *fixture) createPodOf(job *batchv1.Job) *corev1.Pod {
	f.t.Helper()
	return f.storePod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: job.Name + "-", Labels: job.Spec.Template.Labels, Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	})
}
