package reconcile

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// ledger is the accounting part of the next status: what is recorded, what is
// counted (KEP-2307).
type ledger struct {
	completed, lost  indexset.Set
	uncountedSuccess []types.UID
	uncountedFailure []types.UID
	countedSuccess   int32
	countedFailure   int32
	// recordedNow are the failed pods that this status records first; records says
	// that it records any pod first.
	recordedNow map[types.UID]bool
	records     bool
}

// record moves recorded pods whose finalizer is gone into the counters, and
// records the pods that finished since, as many as one status may hold.
func (s *state) record() ledger {
	l := ledger{
		completed:      s.completed,
		lost:           s.lostNow(),
		countedSuccess: s.job.Status.Succeeded,
		countedFailure: s.job.Status.Failed,
		recordedNow:    map[types.UID]bool{},
	}
	s.settle(&l)
	room := s.room()
	// What has ended comes first: it may be the evidence of the Job's end.
	countable := slices.DeleteFunc(slices.Clone(s.failed), s.isDelayed)
	order := compareForRecord
	if s.fate.succeeding() {
		order = compareFleeting
	}
	s.recordFailed(&l, countable, order, &room)
	s.recordSucceeded(&l, &room)
	s.recordFailed(&l, s.remaining, compareForRecord, &room)
	s.plan.Findings.Unrecorded = s.unrecorded
	return l
}

func (s *state) recordFailed(l *ledger, pods []*Pod, order func(a, b *Pod) int, room *int) {
	slices.SortFunc(pods, order)
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
		l.completed = s.completed.Union(indexset.Of(indexes...))
		l.countedSuccess = s.completedCount(l.completed)
	}
}

// completedCount is status.succeeded of an Indexed Job. It may fall only while
// completions and parallelism are equal. If somebody lowers both and then one of
// them before we see it, the API server takes no smaller count any more: the old
// one stays, rather than that the Job never gets another status (STV-18).
func (s *state) completedCount(completed indexset.Set) int32 {
	n := int32(completed.Len())
	if n < s.job.Status.Succeeded && s.parallelism != s.completions {
		s.plan.Findings.CountKept = &CountKept{s.job.Status.Succeeded, n}
		return s.job.Status.Succeeded
	}
	return n
}

// settle keeps the recorded UIDs whose pod still holds its finalizer, in their
// order, and counts the others (TRK-05).
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

// room is how many pods a status can record beside those that it has recorded.
func (s *state) room() int { return max(0, s.cfg.MaxUncounted-len(s.seen)) }

// take returns the pods that fit into the room that is left, and counts the rest.
func (s *state) take(pods []*Pod, room *int) []*Pod {
	n := max(0, min(*room, len(pods)))
	*room -= n
	s.unrecorded += int32(len(pods) - n)
	return pods[:n]
}

// compareFleeting puts those first that are being deleted (fitsFleeting).
func compareFleeting(a, b *Pod) int {
	return cmp.Or(compareBool(b.Deleting, a.Deleting), compareForRecord(a, b))
}

// compareForRecord orders pods independently of the cache's order; those that have
// ended come before those that only count as failed.
func compareForRecord(a, b *Pod) int {
	return cmp.Or(compareBool(b.IsTerminal(), a.IsTerminal()), a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
