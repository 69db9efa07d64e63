package reconcile

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// maxObject is the largest request that etcd accepts.
const maxObject = 3 << 19

// everyOther returns n indexes, every second one from first on.
func everyOther(first, n int32) indexset.Set {
	list := make([]int32, n)
	for i := range n {
		list[i] = first + 2*i
	}
	return indexset.Of(list...)
}

// fragmented returns a Job of the given number of indexes, of which the even ones have succeeded. As many pods as one
// status records end now, and nine times as many run.
func fragmented(completions int32, perIndex bool) (o Observation, ends int32) {
	o = hugeJob(0, perIndex)
	*o.Job.Spec.Completions, *o.Job.Spec.Parallelism = completions, completions/10
	done := everyOther(0, completions/2)
	o.Job.Status.CompletedIndexes, o.Job.Status.Succeeded = done.String(), completions/2
	addPods(&o, 0, int(completions/20), func(i int, p *Pod) {
		p.Index = int32(2*i + 1)
		if i%10 == 0 && ends < int32(DefaultConfig().MaxUncounted) {
			p.Phase, p.FinishedAt = corev1.PodSucceeded, p.CreatedAt
			ends++
		}
	})
	return o, ends
}

// REG-24, BLI-31: a Job of 10^5 indexes whose lists have the largest possible number of fragments fits into etcd, and
// the lists keep their indexes and gain the new ones.
func TestFragmentedIndexesFit(t *testing.T) {
	for _, perIndex := range []bool{false, true} {
		o, ends := fragmented(hugeCompletions, perIndex)
		lost := everyOther(20_001, 30_000) // beyond those that run
		if perIndex {
			o.Job.Status.FailedIndexes = ptr.To(lost.String())
		}
		next := o.Job.DeepCopy()
		plan := Compute(o, DefaultConfig())
		if plan.Status == nil {
			t.Fatal("no status")
		}
		next.Status = *plan.Status
		if next.Status.Succeeded != hugeCompletions/2+ends || ends < 400 {
			t.Errorf("succeeded %d, %d more", next.Status.Succeeded, ends)
		}
		completed, err := indexset.Parse(next.Status.CompletedIndexes)
		if err != nil || !everyOther(0, hugeCompletions/2).Difference(completed).IsEmpty() || completed.Len() != int(next.Status.Succeeded) {
			t.Errorf("completedIndexes: %d indexes, %v", completed.Len(), err)
		}
		if perIndex && *next.Status.FailedIndexes != lost.String() {
			t.Error("failedIndexes changed")
		}
		text, err := json.Marshal(next)
		assert.NoError(t, err)
		if len(text) > maxObject/2 {
			t.Errorf("the Job has %d bytes", len(text))
		}
	}
}
