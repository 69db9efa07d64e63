package integration

import (
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

// collect does what the garbage collector does after a deletion, as far as it gets
// before anybody takes the pods' finalizers.
func (f *fixture) collect(job string, policy metav1.DeletionPropagation, pods []*corev1.Pod) {
	f.t.Helper()
	f.deleteJob(job, policy)
	if policy != metav1.DeletePropagationOrphan {
		f.deletePods(pods...)
		return
	}
	f.dropOwners(pods...)
	f.patchJob(job, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	f.until("the Job is gone", func() bool { return f.history.job(job) == nil })
}

// A Job is deleted while Jobs are not watched: the next list does not have it, and its pods
// are released.
func TestWatchMissesTheJobsDeletion_TRK_21_TRK_22(t *testing.T) {
	t.Parallel()
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(2), parallelism(2)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			away := p.wire.cut(watches("jobs"))
			p.wire.endWatches(watches("jobs"))
			f.until("the watch was to begin anew", func() bool { return away.count() > 0 })
			f.collect("a", policy, pods)
			expired := p.wire.reject(watches("jobs"), http.StatusGone)
			f.until("the watch has expired", func() bool { return expired.count() > 0 })
			expired.lift()
			away.lift()
			f.until("the controller has heard of it", func() bool {
				return f.history.pod(pods[0].UID) == nil || !history.IsTracked(f.history.pod(pods[0].UID))
			})
			f.untilReleased()
		})
	}
}

// The pod watch is late: the Job is gone when its pods turn up.
func TestPodTurnsUpAfterItsJob_TRK_20_TRK_21(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.untilWorking()
	p.wire.freeze(watches("pods"))
	loss := p.wire.loseAnswer(podPost)
	f.create(newJob(completions(1)))
	f.until("an answer is lost", func() bool { return loss.count() > 0 })
	pods := f.untilActive(1)
	// The list that would show it fails, too.
	p.wire.reject(calls(http.MethodGet, "pods"), http.StatusInternalServerError)
	f.collect("a", metav1.DeletePropagationBackground, pods)
	f.create(named("later", newJob(parallelism(0))))
	f.untilJob("later", "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	p.wire.thaw()
	f.untilReleased()
}

// strays are pods that a controller finds at its start: whose they are, and whether it
// is to free them.
type straysCase struct {
	name string
	// of returns the owner, and labels, of the pod; made reports whether it carries the
	// mark of this program.
	owner  *metav1.OwnerReference
	labels map[string]string
	made   bool
	freed  bool
}

// Whose pods are freed at a start, and whose are left to others.
func TestOnlyOurPodsAreFreedAtAStart_TRK_22_TRK_23(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// The test creates the pods, as nobody should.
	f.tolerated = []string{"S5"}
	p := f.startController()
	gone := f.create(newJob(parallelism(0)))
	f.untilJob("a", "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	p.stop()
	f.deleteJob("a", metav1.DeletePropagationBackground)
	theirs := f.create(named("theirs", newJob(managedBy(otherController))))
	builtin := f.create(named("builtin", newJob(managedBy(""))))
	recreated := f.create(newJob(managedBy(otherController)))

	ownerOf := func(job *batchv1.Job) *metav1.OwnerReference {
		return metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
	}
	changed := func(job *batchv1.Job, change func(*metav1.OwnerReference)) *metav1.OwnerReference {
		owner := ownerOf(job)
		change(owner)
		return owner
	}
	labelsOf := func(job *batchv1.Job) map[string]string { return job.Spec.Template.Labels }
	cases := []straysCase{
		{"of a Job that is gone", ownerOf(gone), labelsOf(gone), true, true},
		{"orphaned by a Job that is gone", nil, labelsOf(gone), true, true},
		{"of a Job that is gone, not made by us", ownerOf(gone), labelsOf(gone), false, false},
		{"orphaned, not made by us", nil, labelsOf(gone), false, false},
		{"orphaned, without labels", nil, nil, true, true},
		{"orphaned, without labels, not made by us", nil, nil, false, false},
		{"of another's Job", ownerOf(theirs), labelsOf(theirs), true, false},
		{"orphaned by another's Job that is there", nil, labelsOf(theirs), true, false},
		{"of a Job of the built-in controller", ownerOf(builtin), labelsOf(builtin), true, false},
		{"of the Job that has the name now", ownerOf(recreated), labelsOf(recreated), true, false},
		{"of another kind", changed(gone, func(o *metav1.OwnerReference) { o.Kind = "CronJob" }), labelsOf(gone), true, false},
		{"of another API group", changed(gone, func(o *metav1.OwnerReference) { o.APIVersion = "batch.example.com/v1" }), labelsOf(gone), true, false},
		{"owned, but not controlled", changed(gone, func(o *metav1.OwnerReference) { o.Controller = ptr.To(false) }), nil, true, true},
	}
	pods := make([]*corev1.Pod, len(cases))
	for i, c := range cases {
		pods[i] = f.createPod(c.labels, func(pod *corev1.Pod) {
			pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
			if c.owner != nil {
				pod.OwnerReferences = []metav1.OwnerReference{*c.owner}
			}
			if c.made {
				pod.Annotations = map[string]string{controller.AttemptAnnotation: "1"}
			}
		})
	}
	next := f.startController()
	f.untilPods(len(cases)-4, "tracked", history.IsTracked)
	f.create(named("later", newJob(completions(1))))
	f.kubelet.succeed(f.untilPods(1, "of the later Job", func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "later" })...)
	f.untilComplete("later", 1, 0)
	for i, c := range cases {
		if now := f.history.pod(pods[i].UID); history.IsTracked(now) == c.freed {
			t.Errorf("pod %s: freed %v, want %v", c.name, !c.freed, c.freed)
		}
		if n := len(next.wire.recorded(anyWrite.named(pods[i].Name))); n != map[bool]int{true: 1}[c.freed] {
			t.Errorf("pod %s: %d writes", c.name, n)
		}
	}
}
