package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// findEndedIndexes finds the indexes that have ended since the stored status: with a
// success, or (KEP-3850) with more failures than allowed. An index with both succeeded
// (BLI-12).
func (s *state) findEndedIndexes() {
	if !s.indexed {
		return
	}
	s.newCompletedIndexes = indexesOf(s.succeeded)
	if !s.perIndex || s.outcome.stored {
		// Pods that end because the Job ends do not fail their index (BLI-19).
		return
	}
	var lost []int32
	for _, p := range s.failed {
		if s.failsIndex(p) {
			lost = append(lost, p.Index)
		}
	}
	s.newFailedIndexes = indexset.Of(lost...).Difference(s.allCompletedIndexes()).Difference(s.failedIndexes)
	for _, p := range s.failed {
		if s.newFailedIndexes.Contains(p.Index) && s.failsIndex(p) {
			s.plan.Findings.IndexFailures = append(s.plan.Findings.IndexFailures, s.failedPod(p))
		}
	}
}

// failsIndex reports whether the failure of the pod fails its index: by a rule (BLI-14), or
// because the index had as many failures before as it may have (BLI-02).
func (s *state) failsIndex(p *Pod) bool {
	return s.action(p) == batchv1.PodFailurePolicyActionFailIndex || p.Failures >= s.limitPerIndex()
}

func (s *state) limitPerIndex() int32 { return ptr.Deref(s.job.Spec.BackoffLimitPerIndex, 0) }

// allFailedIndexes returns every index that has failed, recorded or not.
func (s *state) allFailedIndexes() indexset.Set { return s.failedIndexes.Union(s.newFailedIndexes) }

// tooManyFailedIndexes fails the Job by spec.maxFailedIndexes (BLI-18).
func (s *state) tooManyFailedIndexes() bool {
	limit := s.job.Spec.MaxFailedIndexes
	if !s.perIndex || limit == nil {
		return false
	}
	f := &MaxFailedIndexes{int32(s.allFailedIndexes().Len()), *limit}
	s.plan.Findings.MaxFailedIndexes = f
	if f.Failed <= f.Limit {
		return false
	}
	s.setOutcome(outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonMaxFailedIndexesExceeded, message: messageMaxFailedIndexes})
	return true
}

// endedWithFailedIndexes fails a Job all of whose indexes have ended, some of them failed
// (BLI-17). Only successes that this plan's status records count, so that the condition and
// its evidence are stored together.
func (s *state) endedWithFailedIndexes() bool {
	failed := s.allFailedIndexes().Len()
	if !s.perIndex || failed == 0 || s.completedIndexes.Union(indexesOf(s.recordable())).Len()+failed < int(s.completions) {
		return false
	}
	s.setOutcome(outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonFailedIndexes, message: messageFailedIndexes})
	return true
}

// delayFailures picks, for each index that has failed pods and may run again, the pod whose
// failure count passes to the next one. It is recorded and released only once the next pod
// exists, so that the count is not lost (BLI-06..08).
func (s *state) delayFailures() {
	if !s.perIndex || s.outcome.decided() || s.successMet || s.deleting {
		return
	}
	taken := s.endedIndexes().Union(indexesOf(s.active))
	s.predecessors = make(map[int32]*Pod, len(s.failed)+len(s.ignored))
	for _, p := range slices.Concat(s.failed, s.ignored) {
		if other := s.predecessors[p.Index]; !taken.Contains(p.Index) && (other == nil || comparePredecessors(p, other) > 0) {
			s.predecessors[p.Index] = p
		}
	}
	waits := make([]AwaitsReplacement, 0, len(s.predecessors))
	for _, index := range slices.Sorted(maps.Keys(s.predecessors)) {
		p := s.predecessors[index]
		// Ignored failures delay like any other (D-13).
		failures := saturatingAdd(saturatingAdd(p.Failures, p.Ignored), 1)
		waits = append(waits, AwaitsReplacement{s.failedPod(p), failures, p.FinishedAt.Add(s.cfg.Backoff.Delay(failures))})
	}
	s.plan.Findings.AwaitReplacement = waits
}

// endedIndexes returns every index that needs no further pod.
func (s *state) endedIndexes() indexset.Set {
	return s.allCompletedIndexes().Union(s.allFailedIndexes())
}

func comparePredecessors(a, b *Pod) int {
	return cmp.Or(
		cmp.Compare(int64(a.Failures)+int64(a.Ignored), int64(b.Failures)+int64(b.Ignored)),
		a.FinishedAt.Compare(b.FinishedAt),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.UID, b.UID),
	)
}

func (s *state) isDelayed(p *Pod) bool { return s.predecessors[p.Index] == p }

func (s *state) isIgnored(p *Pod) bool { return s.action(p) == batchv1.PodFailurePolicyActionIgnore }

// successorOf returns the pod to create for an index after its failed pod, which may
// be nil (BLI-03, BLI-04).
func (s *state) successorOf(index int32, before *Pod) NewPod {
	n := NewPod{Index: index, Attempt: 1, PerIndex: true}
	if before == nil {
		return n
	}
	n.Failures, n.Ignored = before.Failures, before.Ignored
	if s.isIgnored(before) {
		n.Ignored = saturatingAdd(n.Ignored, 1)
	} else {
		n.Failures = saturatingAdd(n.Failures, 1)
	}
	n.Attempt = saturatingAdd(saturatingAdd(n.Failures, n.Ignored), 1)
	return n
}

// backingOffIndexes returns the indexes that may not start yet, and when the first of them
// may (BLI-22).
func (s *state) backingOffIndexes() (indexset.Set, time.Time) {
	var waiting []int32
	var first time.Time
	for _, f := range s.plan.Findings.AwaitReplacement {
		if !s.Now.Before(f.Until) {
			continue
		}
		waiting = append(waiting, f.Pod.Index)
		if first.IsZero() || f.Until.Before(first) {
			first = f.Until
		}
	}
	return indexset.Of(waiting...), first
}

// saturatingAdd adds without overflow: a tampered annotation may hold a huge count.
func saturatingAdd(a, b int32) int32 { return int32(min(int64(a)+int64(b), 1<<31-1)) }
