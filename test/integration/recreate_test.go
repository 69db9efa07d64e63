package integration

import (
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// While a sync is running, the Job is deleted, and somebody creates one of the
// same name for another controller. It is not touched; the old one's pods are freed.
func TestJobIsRecreatedForAnother_MGB_03_JOB_38_TRK_23(t *testing.T) {
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

			// When a later Job is complete, the earlier sync is long over.
			f.create(named("later", newJob(completions(1))))
			f.kubelet.play(everySucceeds)
			f.untilComplete("later", 1, 0)
			f.untilReleased()
			f.wantUntouched(foreign)
		})
	}
}

// wantUntouched checks that nobody wrote the Job since the test did, and that no
// pod belongs to it.
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

// The other way round: a Job of somebody else's makes place for one of ours.
func TestJobIsRecreatedForUs_MGB_03_JOB_20(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(managedBy(otherController)))
	f.deleteJob("a", metav1.DeletePropagationBackground)
	f.create(newJob(completions(1)))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 1, 0)
}

// A Job that failed often is created again: its pods do not wait.
func TestRecreatedJobStartsFresh_JOB_20_JOB_38(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(neverRetry)
	old := f.create(newJob(completions(1)))
	f.kubelet.fail(f.untilActive(1)...)
	f.untilCounts("a", counts{failed: 1})
	f.deleteJob("a", metav1.DeletePropagationBackground)
	f.create(newJob(completions(1)))
	f.untilActive(1)
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if isOwnedBy(pod, old) {
			return ""
		}
		return corev1.PodSucceeded
	})
	f.untilComplete("a", 1, 0)
}

// Jobs of others are nobody's business but theirs, and so are their pods.
func TestJobsOfOthersAreLeftAlone_MGB_01_MGB_06_TRK_23(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var others []*batchv1.Job
	for name, manager := range map[string]string{
		"builtin": "", "reserved": batchv1.JobControllerName, "other": otherController, "similar": "batchjob.dev/controller2",
	} {
		others = append(others, f.create(named(name, newJob(managedBy(manager), completions(1)))))
	}
	theirs := f.createPodOf(others[0])
	f.startController()
	late := f.create(named("late", newJob(managedBy(otherController), completions(1))))
	f.create(newJob(completions(1)))
	f.untilActive(2)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 1, 0)
	for _, job := range append(others[1:], late) {
		f.wantUntouched(job)
	}
	// A Job that is gone before we ever knew it as ours may be anybody's.
	f.deleteJob(others[0].Name, metav1.DeletePropagationBackground)
	f.deletePods(theirs)
	f.create(named("later", newJob(completions(1))))
	f.untilComplete("later", 1, 0)
	if pod := f.history.pod(theirs.UID); pod == nil || !history.IsTracked(pod) {
		t.Errorf("the pod of another controller's Job was written: %+v", pod)
	}
}

// createPodOf makes a pod as the Job's controller would.
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
