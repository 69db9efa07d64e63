package analysis_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Issue 17: an index whose pod is being deleted, and whose next pod waits only for a back-off (podReplacementPolicy
// TerminatingOrFailed), is in back-off in the verdict and in the list of indexes.
// Requirements: CLI-04
func TestTerminatingIndexMayBeInBackoff(t *testing.T) {
	evicted := podOf("train-0-a", onIndex(0, 1, func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(-25*time.Second)), ptr.To[int64](30)
	}))
	r := report(factsOf(indexedJob(2, nil), evicted, podOf("train-1-b", onIndex(1, 1, nil))))
	x := r.Indexes
	if x.BackingOff != "0" || x.TerminatingCount != 0 || !strings.Contains(verdict(r), "1 index is in back-off, the first is retried in 5s") {
		t.Errorf("%+v: %s", x, verdict(r))
	}
	if c := r.Counts; *c.TerminatingPods != 1 || c.AwaitReplacement != 0 {
		t.Errorf("a pod that has not failed awaits nothing as a failure: %+v", c)
	}
}

// withFinalizer keeps the finalizer of an ended pod.
func withFinalizer(end func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		finalizers := p.Finalizers
		end(p)
		p.Finalizers = finalizers
	}
}

// Issue 17: a report has a time in whole seconds, as the API has: elapsed and remaining time add up.
// Requirements: CLI-04
func TestReportIsOfAWholeSecond(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		limit := int64(3610)
		j.Spec.ActiveDeadlineSeconds = &limit
	}))
	f.Now = noon.Add(700 * time.Millisecond)
	r := report(f)
	if len(r.Waits) != 1 || *r.Job.DurationSeconds+int64(r.Waits[0].Until.Sub(r.ObservedAt.Time)/time.Second) != 3610 {
		t.Errorf("%d seconds have passed at %v: %+v", *r.Job.DurationSeconds, r.ObservedAt, r.Waits)
	}
}

// Issue 17: successes that are not in the status yet are counted once, the same in all outputs.
// Requirements: CLI-01, CLI-04
func TestCompletionsAreCountedOnce(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.Status.Succeeded, j.Status.UncountedTerminatedPods.Succeeded = 1, []types.UID{"uid-train-b"}
	})
	ends := withFinalizer(exits(0, "Completed", 2*time.Second))
	r := report(factsOf(job, podOf("train-a", exits(0, "Completed", time.Hour)), podOf("train-b", ends), podOf("train-c", ends)))
	if r.Counts.Completed != 3 || !strings.Contains(verdict(r), "3 of 3 pods succeeded") {
		t.Errorf("%+v: %s", r.Counts, verdict(r))
	}
}
