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

// settleIndexes finds the indexes that have ended since the stored status: with a
// success, or (KEP-3850) with a failure that is one too many. An index that did both
// at once succeeded (BLI-12).
func (s *state) settleIndexes() {
	if !s.indexed {
		return
	}
	s.fresh = indexesOf(s.succeeded)
	if !s.perIndex || s.fate.stored {
		// Pods that end because the Job does say nothing of their index (BLI-19).
		return
	}
	var lost []int32
	for _, p := range s.failed {
		if s.failsIndex(p) {
			lost = append(lost, p.Index)
		}
	}
	s.freshLost = indexset.Of(lost...).Difference(s.completedNow()).Difference(s.lost)
	for _, p := range s.failed {
		if s.freshLost.Contains(p.Index) && s.failsIndex(p) {
			s.plan.Findings.IndexFailures = append(s.plan.Findings.IndexFailures, s.failedPod(p))
		}
	}
}

// failsIndex says that the failure of the pod is the last of its index: a rule says so
// (BLI-14), or the index had as many failures before as it may have (BLI-02).
func (s *state) failsIndex(p *Pod) bool {
	return s.action(p) == batchv1.PodFailurePolicyActionFailIndex || p.Failures >= s.limitPerIndex()
}

func (s *state) limitPerIndex() int32 { return ptr.Deref(s.job.Spec.BackoffLimitPerIndex, 0) }

// lostNow is every index that has failed, recorded or not.
func (s *state) lostNow() indexset.Set { return s.lost.Union(s.freshLost) }

// tooManyFailedIndexes is the end by spec.maxFailedIndexes (BLI-18).
func (s *state) tooManyFailedIndexes() bool {
	limit := s.job.Spec.MaxFailedIndexes
	if !s.perIndex || limit == nil {
		return false
	}
	f := &MaxFailedIndexes{int32(s.lostNow().Len()), *limit}
	s.plan.Findings.MaxFailedIndexes = f
	if f.Failed <= f.Limit {
		return false
	}
	s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonMaxFailedIndexesExceeded, message: messageMaxFailedIndexes})
	return true
}

// endedWithFailedIndexes is the end of a Job all of whose indexes have ended, and not
// all of them well (BLI-17). Only successes that the status written now records count, so
// that the condition and its evidence are stored together.
func (s *state) endedWithFailedIndexes() bool {
	failed := s.lostNow().Len()
	if !s.perIndex || failed == 0 || s.completed.Union(indexesOf(s.recordable())).Len()+failed < int(s.completions) {
		return false
	}
	s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonFailedIndexes, message: messageFailedIndexes})
	return true
}

// delayFailures picks, for each index that has failed pods and may run again, the pod
// that tells the next one how often the index has failed. It is recorded, and let go,
// only when that next pod is there, so that the count outlives it (BLI-06..08).
func (s *state) delayFailures() {
	if !s.perIndex || s.fate.decided() || s.met || s.deleting {
		return
	}
	taken := s.endedNow().Union(indexesOf(s.active))
	s.predecessors = make(map[int32]*Pod, len(s.failed)+len(s.ignored))
	for _, p := range slices.Concat(s.failed, s.ignored) {
		if rival := s.predecessors[p.Index]; !taken.Contains(p.Index) && (rival == nil || comparePredecessors(p, rival) > 0) {
			s.predecessors[p.Index] = p
		}
	}
	waits := make([]AwaitsReplacement, 0, len(s.predecessors))
	for _, index := range slices.Sorted(maps.Keys(s.predecessors)) {
		p := s.predecessors[index]
		// An ignored failure delays like any other (D-13).
		failures := saturatingAdd(saturatingAdd(p.Failures, p.Ignored), 1)
		waits = append(waits, AwaitsReplacement{s.failedPod(p), failures, p.FinishedAt.Add(s.cfg.Backoff.Delay(failures))})
	}
	s.plan.Findings.AwaitReplacement = waits
}

// endedNow is every index that needs no further pod.
func (s *state) endedNow() indexset.Set { return s.completedNow().Union(s.lostNow()) }

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

// successorOf is the pod that an index gets after its failed pod, which may be nil
// (BLI-03, BLI-04).
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

// backingOffIndexes are the indexes that may not start yet, and when the first of them
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

// saturatingAdd keeps counts that a tampered annotation made huge from turning negative.
func saturatingAdd(a, b int32) int32 { return int32(min(int64(a)+int64(b), 1<<31-1)) }
