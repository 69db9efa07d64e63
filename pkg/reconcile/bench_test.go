package reconcile

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

const (
	hugeCompletions = 100_000
	hugeParallelism = 10_000
)

// hugeJob returns an Indexed Job of 100,000 indexes, 10,000 at a time, of which the first `done` have succeeded and are
// counted; their pods still exist.
func hugeJob(done int, perIndex bool) Observation {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "huge", Namespace: "ns", UID: "uid"}}
	job.Spec = batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](hugeCompletions), Parallelism: ptr.To[int32](hugeParallelism),
		BackoffLimit: ptr.To[int32](6),
	}
	if perIndex {
		job.Spec.BackoffLimitPerIndex = ptr.To[int32](3)
	}
	start := metav1.NewTime(begun)
	job.Status = batchv1.JobStatus{
		StartTime: &start, Succeeded: int32(done), CompletedIndexes: indexset.Below(int32(done)).String(),
		Ready: ptr.To[int32](0), Terminating: ptr.To[int32](0), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	o := Observation{Job: job, Now: begun.Add(time.Hour)}
	for i := range done {
		p := hugePod(i, begun)
		p.Phase, p.Finalizer, p.FinishedAt = corev1.PodSucceeded, false, begun.Add(time.Minute)
		o.Pods = append(o.Pods, p)
	}
	return o
}

func hugePod(i int, created time.Time) *Pod {
	return &Pod{
		UID: types.UID(fmt.Sprintf("5e1f7c1e-6c1c-4a5e-9d5e-%012d", i)), Name: fmt.Sprintf("huge-%d-abcde", i), ResourceVersion: fmt.Sprint(i),
		Phase: corev1.PodRunning, Index: int32(i), Finalizer: true, Scheduled: true, CreatedAt: created,
	}
}

func addPods(o *Observation, from, n int, change func(i int, p *Pod)) {
	for i := from; i < from+n; i++ {
		p := hugePod(i, o.Now)
		change(i, p)
		o.Pods = append(o.Pods, p)
	}
}

// BenchmarkCompute measures one decision about a Job of 100,000 indexes, parallelism
// 10,000, at its most expensive moments. BLI-39 is the ratio of the per-index variants.
func BenchmarkCompute(b *testing.B) {
	succeed := func(_ int, p *Pod) { p.Phase, p.FinishedAt = corev1.PodSucceeded, p.CreatedAt }
	fail := func(i int, p *Pod) {
		p.Phase, p.FinishedAt = corev1.PodFailed, p.CreatedAt.Add(-time.Duration(i)*time.Millisecond)
	}
	run := func(int, *Pod) {}
	for _, perIndex := range []bool{false, true} {
		for name, make := range map[string]func() Observation{
			"first":             func() Observation { return hugeJob(0, perIndex) },
			"10k run":           func() Observation { o := hugeJob(50_000, perIndex); addPods(&o, 50_000, 10_000, run); return o },
			"10k succeeded":     func() Observation { o := hugeJob(50_000, perIndex); addPods(&o, 50_000, 10_000, succeed); return o },
			"90k+10k succeeded": func() Observation { o := hugeJob(90_000, perIndex); addPods(&o, 90_000, 10_000, succeed); return o },
			"10k failed": func() Observation {
				o := hugeJob(50_000, perIndex)
				o.Job.Spec.BackoffLimit = ptr.To[int32](1 << 30)
				addPods(&o, 50_000, 10_000, fail)
				return o
			},
			"every second counted": func() Observation {
				o := hugeJob(0, perIndex)
				var done []int32
				for i := int32(0); i < hugeCompletions; i += 2 {
					done = append(done, i)
				}
				o.Job.Status.CompletedIndexes, o.Job.Status.Succeeded = indexset.Of(done...).String(), int32(len(done))
				addPods(&o, 0, 10_000, func(i int, p *Pod) { p.Index = int32(2*i + 1); succeed(i, p) })
				return o
			},
		} {
			b.Run(fmt.Sprintf("perIndex=%v/%s", perIndex, name), func(b *testing.B) {
				o, c := make(), DefaultConfig()
				b.ReportAllocs()
				for b.Loop() {
					Compute(o, c)
				}
			})
		}
	}
}
