package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// endedSets holds the indexes that have ended, recorded or not: with a success, or (KEP-3850) with more failures than
// allowed. No index is in both sets.
type endedSets struct{ completed, failed indexset.Set }

// all returns every index that needs no further pod.
func (e endedSets) all() indexset.Set { return e.completed.Union(e.failed) }

// findEndedIndexes finds the indexes that have ended, and the pods whose failure was the last of their index. An index
// with a success and a last failure has succeeded (BLI-12).
func findEndedIndexes(job *jobView, pods *podLists, v verdicts) (ended endedSets, lastFailures []*Pod) {
	ended = endedSets{job.completedIndexes, job.failedIndexes}
	if !job.indexed {
		return ended, nil
	}
	ended.completed = job.completedIndexes.Union(indexesOf(pods.succeeded))
	if !job.perIndex || job.stored.decided() {
		// Pods that end because the Job ends do not fail their index (BLI-19).
		return ended, nil
	}
	// A failure fails its index if a rule says so (BLI-14), or if the index already had as many failures as the limit
	// (BLI-02).
	limit := ptr.Deref(job.spec.BackoffLimitPerIndex, 0)
	for _, p := range pods.failed {
		if v.action(p) == batchv1.PodFailurePolicyActionFailIndex || p.Failures >= limit {
			lastFailures = append(lastFailures, p)
		}
	}
	failed := indexesOf(lastFailures).Difference(ended.completed).Difference(job.failedIndexes)
	ended.failed = job.failedIndexes.Union(failed)
	return ended, slices.DeleteFunc(lastFailures, func(p *Pod) bool { return !failed.Contains(p.Index) })
}

// replacements holds the failed pods, including ignored ones, whose failure count passes to the next pod of their
// index, in the order of the indexes. They are recorded and released only once the next pod exists, so that the count
// is not lost (BLI-06..08).
type replacements []AwaitsReplacement

// of returns the entry of an index, or nil.
func (r replacements) of(index int32) *AwaitsReplacement {
	// sort.Search copies no entries, unlike slices.BinarySearchFunc.
	i := sort.Search(len(r), func(i int) bool { return r[i].Pod.Index >= index })
	if i == len(r) || r[i].Pod.Index != index {
		return nil
	}
	return &r[i]
}

func (r replacements) has(p *Pod) bool {
	before := r.of(p.Index)
	return before != nil && before.Pod == p
}

// findReplacements returns, for each index that has failed pods and may run again, the pod with the highest count.
func findReplacements(job *jobView, pods *podLists, v verdicts, ended endedSets) replacements {
	if !job.perIndex {
		return nil
	}
	taken := ended.all().Union(indexesOf(pods.active))
	last := make(map[int32]*Pod, len(pods.failed)+len(pods.ignored))
	for _, p := range slices.Concat(pods.failed, pods.ignored) {
		if other := last[p.Index]; !taken.Contains(p.Index) && (other == nil || comparePredecessors(p, other) > 0) {
			last[p.Index] = p
		}
	}
	waits := make(replacements, 0, len(last))
	for _, index := range slices.Sorted(maps.Keys(last)) {
		p := last[index]
		// Ignored failures delay the next pod like other failures (D-13).
		failures := saturatingAdd(saturatingAdd(p.Failures, p.Ignored), 1)
		waits = append(waits, AwaitsReplacement{FailedPod{p, v[p.UID]}, failures, p.FinishedAt.Add(job.cfg.Backoff.Delay(failures))})
	}
	return waits
}

// waits reports whether the next pod of the index may not start yet.
func (a *AwaitsReplacement) waits(job *jobView) bool { return job.now.Before(a.Until) }

// keepsPlace reports whether the index keeps its place among the pods that run while it waits: after its first three
// failures, for at most 40 s. While others have its place, an index is not retried, and its last failure is in no status
// (ADR 0027).
func (a *AwaitsReplacement) keepsPlace(job *jobView) bool {
	return a.waits(job) && a.Failures <= 3
}

func comparePredecessors(a, b *Pod) int {
	return cmp.Or(
		cmp.Compare(int64(a.Failures)+int64(a.Ignored), int64(b.Failures)+int64(b.Ignored)),
		a.FinishedAt.Compare(b.FinishedAt),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.UID, b.UID),
	)
}

// successorOf returns the pod to create for an index after its failed pod; before is nil if there is none (BLI-03,
// BLI-04).
func successorOf(index int32, before *AwaitsReplacement) NewPod {
	n := NewPod{Index: index, Attempt: 1, PerIndex: true}
	if before == nil {
		return n
	}
	n.Failures, n.Ignored = before.Pod.Failures, before.Pod.Ignored
	if before.Match != nil && before.Match.Action == batchv1.PodFailurePolicyActionIgnore {
		n.Ignored = saturatingAdd(n.Ignored, 1)
	} else {
		n.Failures = saturatingAdd(n.Failures, 1)
	}
	n.Attempt = saturatingAdd(saturatingAdd(n.Failures, n.Ignored), 1)
	return n
}

func indexesOf(pods []*Pod) indexset.Set {
	indexes := make([]int32, 0, len(pods))
	for _, p := range pods {
		indexes = append(indexes, p.Index)
	}
	return indexset.Of(indexes...)
}

// saturatingAdd adds without overflow: a manipulated annotation may hold a huge count.
func saturatingAdd(a, b int32) int32 { return int32(min(int64(a)+int64(b), 1<<31-1)) }
