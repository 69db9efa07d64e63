package reconcile

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// ledger is what the next status records and counts (KEP-2307).
type ledger struct {
	completedIndexes indexset.Set
	failedIndexes    indexset.Set
	uncountedSuccess []types.UID
	uncountedFailure []types.UID
	countedSuccess   int32
	countedFailure   int32
	// recordedNow are the failed pods that this status is the first to record;
	// records reports whether it is the first to record any pod.
	recordedNow map[types.UID]bool
	records     bool
}

// record moves recorded pods whose finalizer is gone into the counters, and records
// pods that finished since then, as many as one status may hold.
func (s *state) record() ledger {
	l := ledger{
		completedIndexes: s.completedIndexes,
		failedIndexes:    s.allFailedIndexes(),
		countedSuccess:   s.job.Status.Succeeded,
		countedFailure:   s.job.Status.Failed,
		recordedNow:      map[types.UID]bool{},
	}
	s.settle(&l)
	room := s.room()
	// Pods that have ended come first: they may be the reason why the Job ends.
	countable := slices.DeleteFunc(slices.Clone(s.failed), s.isDelayed)
	s.recordFailed(&l, countable, &room)
	s.recordSucceeded(&l, &room)
	s.recordFailed(&l, s.remaining, &room)
	s.plan.Findings.Unrecorded = s.unrecorded
	return l
}

func (s *state) recordFailed(l *ledger, pods []*Pod, room *int) {
	slices.SortFunc(pods, compareForRecord)
	for _, p := range s.take(pods, room) {
		l.records = true
		l.uncountedFailure = append(l.uncountedFailure, p.UID)
		l.recordedNow[p.UID] = true
		s.plan.Findings.RecordedFailed = append(s.plan.Findings.RecordedFailed, s.failedPod(p))
	}
}

func (s *state) recordSucceeded(l *ledger, room *int) {
	slices.SortFunc(s.succeeded, compareForRecord)
	indexes := []int32{}
	for _, p := range s.take(s.succeeded, room) {
		l.records = true
		if s.indexed {
			indexes = append(indexes, p.Index)
		} else {
			l.uncountedSuccess = append(l.uncountedSuccess, p.UID)
		}
	}
	if s.indexed {
		l.completedIndexes = s.completedIndexes.Union(indexset.Of(indexes...))
		l.countedSuccess = s.completedCount(l.completedIndexes)
	}
}

// completedCount is status.succeeded of an Indexed Job. The API server lets it
// decrease only while completions and parallelism are equal. If both are lowered and
// then one of them again before we see it, the old count is kept: otherwise no status
// would ever be accepted again (STV-18).
func (s *state) completedCount(completed indexset.Set) int32 {
	n := int32(completed.Len())
	if n < s.job.Status.Succeeded && s.parallelism != s.completions {
		s.plan.Findings.CountKept = &CountKept{s.job.Status.Succeeded, n}
		return s.job.Status.Succeeded
	}
	return n
}

// settle keeps the recorded UIDs whose pod still has its finalizer, in their order,
// and counts the others (TRK-05).
func (s *state) settle(l *ledger) {
	if u := s.job.Status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Succeeded {
			switch {
			case s.uncounted[uid] != resultSucceeded:
			case s.seen[uid]:
				l.uncountedSuccess = append(l.uncountedSuccess, uid)
			default:
				l.countedSuccess++
			}
		}
		for _, uid := range u.Failed {
			if s.seen[uid] {
				l.uncountedFailure = append(l.uncountedFailure, uid)
				continue
			}
			l.countedFailure++
		}
	}
}

// room is how many more pods the status can record.
func (s *state) room() int { return max(0, s.cfg.MaxUncounted-len(s.seen)) }

// take returns the pods that fit into the remaining room, and counts the rest.
func (s *state) take(pods []*Pod, room *int) []*Pod {
	n := max(0, min(*room, len(pods)))
	*room -= n
	s.unrecorded += int32(len(pods) - n)
	return pods[:n]
}

// compareForRecord orders pods independently of the cache; those that have ended come
// before those that only count as failed.
func compareForRecord(a, b *Pod) int {
	return cmp.Or(compareBool(b.IsTerminal(), a.IsTerminal()), a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
