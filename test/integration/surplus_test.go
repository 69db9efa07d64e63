package integration

import (
	"net/http"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// addPod creates a pod as a Job's controller would, for an index or (-1) for none. What the
// Job does not ask for breaks an invariant that the judge then tolerates.
func (f *fixture) addPod(job *batchv1.Job, index int32) *corev1.Pod {
	f.t.Helper()
	f.tolerated = append(f.tolerated, "S5", "S6")
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.GenerateName = "extra-"
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if index >= 0 {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(int(index)))
	}
	return f.storePod(pod)
}

// A surplus pod cannot be deleted before it has succeeded like the others. The Job is
// complete, and one event reports the surplus.
func TestTooManySuccessesCompleteTheJob_JOB_14(t *testing.T) {
	t.Parallel()
	const event = "TooManySucceededPods"
	f := newFixture(t)
	p := f.startController(f.telling)
	job := f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	removal := p.wire.reject(podPatch, http.StatusInternalServerError)
	extra := f.addPod(job, -1)
	f.kubelet.run(extra)
	f.until("the extra pod was to be taken away", func() bool { return removal.count() > 0 })
	f.kubelet.succeed(append(pods, extra)...)
	f.untilJob("a", "has recorded three", func(job *batchv1.Job) bool { return countsOf(job).succeeded == 3 })
	removal.lift()
	f.untilComplete("a", 3, 0)
	e := f.untilEvent("a", event)
	if e.Type != corev1.EventTypeWarning || e.Message != "3 pods succeeded, but spec.completions is 2; the Job is complete anyway" {
		t.Errorf("the event is %s %q", e.Type, e.Message)
	}
	f.untilEvent("a", "Completed")
	if n := f.said("a", event); n != 1 {
		t.Errorf("the event is there %d times", n)
	}
	f.wantPodsEver(3)
}

// As many successes as were asked for are nothing to report.
func TestEnoughSucceeded_JOB_14(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(f.telling)
	f.create(newJob(completions(2), parallelism(2)))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.untilEvent("a", "Completed")
	if n := f.said("a", "TooManySucceededPods"); n != 0 {
		t.Errorf("the event is there %d times", n)
	}
}

// Parallelism beyond completions starts as many pods as there are completions, and keeps as
// many as remain: a pod more goes, and one for each success that comes from elsewhere.
func TestParallelismBeyondCompletionsStartsNoMore_JOB_63(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]jobOption{"NonIndexed": completions(3), "Indexed": indexed(3)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			job := f.create(newJob(option, parallelism(9), backoffLimit(0), onNode))
			pods := f.untilActive(3)
			f.kubelet.run(pods...)
			f.untilCounts("a", counts{active: 3, ready: 3})
			f.wantPodsEver(3)

			// It is the least advanced of all, or of its index.
			extra := f.addPod(job, history.IndexOf(pods[1]))
			f.untilCounts("a", counts{active: 3, ready: 3, terminating: 1})
			f.kubelet.terminate(extra)
			f.untilCounts("a", counts{active: 3, ready: 3})
			if f.history.pod(extra.UID) != nil || len(f.untilActive(3)) != 3 {
				t.Errorf("the extra pod is still there")
			}
			f.kubelet.succeed(pods[0])
			f.untilCounts("a", counts{active: 2, ready: 2, succeeded: 1})
			f.wantPodsEver(4)
			f.kubelet.succeed(pods[1:]...)
			f.untilComplete("a", 3, 0)
			f.wantPodsEver(4)
		})
	}
}

// More pods are active than completions remain, because one that nobody had asked for
// succeeded: the least advanced of them is deleted, and is no failure.
func TestFewerCompletionsRemain_JOB_63(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := f.create(newJob(completions(3), parallelism(9), backoffLimit(0), onNode))
	pods := f.untilActive(3)
	f.kubelet.run(pods[:2]...)
	f.untilCounts("a", counts{active: 3, ready: 2})
	removal := p.wire.hold(podPatch)
	extra := f.addPod(job, -1)
	f.until("the extra pod is to be taken away", func() bool { return removal.count() > 0 })
	f.kubelet.succeed(extra)
	removal.lift()
	f.untilCounts("a", counts{active: 2, ready: 2, terminating: 1, succeeded: 1})
	if gone := f.untilPods(1, "terminating", history.IsTerminating)[0]; gone.UID != pods[2].UID {
		t.Errorf("pod %s is deleted", gone.Name)
	}
	f.kubelet.terminate(pods[2])
	f.kubelet.succeed(pods[:2]...)
	f.untilComplete("a", 3, 0)
	f.wantPodsEver(4)
}

// Two pods of one index succeed: that is one completion, and the Job waits for the others.
func TestRepeatedIndexIsOneCompletion_REG_02_JOB_06(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	job := f.create(newJob(indexed(3)))
	f.kubelet.run(f.untilActive(3)...)
	f.untilCounts("a", counts{active: 3, ready: 3})
	removal := p.wire.reject(podPatch, http.StatusInternalServerError)
	one := f.indexOfJob("a", 1)
	twin := f.addPod(job, 1)
	f.kubelet.run(twin)
	f.kubelet.succeed(one, twin)
	f.kubelet.succeed(f.indexOfJob("a", 0))
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 2})
	removal.lift()
	f.untilPods(1, "tracked", history.IsTracked)
	now := f.history.job("a")
	if now.Status.CompletedIndexes != "0,1" || history.Is(now, batchv1.JobSuccessCriteriaMet) {
		t.Errorf("the Job is %s", jobLine(now))
	}
	f.kubelet.succeed(f.indexOfJob("a", 2))
	f.untilComplete("a", 3, 0)
	f.wantPodsEver(4)
}

// Pods are deleted as soon as they have ended, by somebody who tidies up: no count falls, and
// as many pods are created as it takes.
func TestEndedPodsAreDeleted_REG_01(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]jobOption{"NonIndexed": completions(6), "Indexed": indexed(6)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			f.create(newJob(option, parallelism(2)))
			for i := range 8 {
				pod := f.untilActive(min(2, 8-i))[0]
				f.kubelet.run(pod)
				if i < 2 {
					f.kubelet.fail(pod)
				} else {
					f.kubelet.succeed(pod)
				}
				f.deletePods(pod)
				f.until("the pod is gone", func() bool { return f.history.pod(pod.UID) == nil })
			}
			f.untilComplete("a", 6, 2)
			f.wantPodsEver(8)
			before := counts{}
			for _, v := range f.history.sorted() {
				if v.job == nil {
					continue
				}
				if s := v.job.Status; s.Succeeded < before.succeeded || s.Failed < before.failed {
					t.Errorf("at revision %d the Job is %s", v.revision, jobLine(v.job))
				}
				before = counts{succeeded: v.job.Status.Succeeded, failed: v.job.Status.Failed}
			}
		})
	}
}
