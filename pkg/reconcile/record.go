package reconcile

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// ledger holds the pods and indexes that the next status records and counts (KEP-2307).
type ledger struct {
	completedIndexes indexset.Set
	failedIndexes    indexset.Set
	uncountedSuccess []types.UID
	uncountedFailure []types.UID
	countedSuccess   int32
	countedFailure   int32
	// kept explains a countedSuccess larger than the number of completed indexes; nil otherwise.
	kept *CountKept

	// records reports whether this status is the first to record any pod. newFailures are the failed pods that it is the
	// first to record, newRemaining the pods that it records as failed although they have not ended.
	records                   bool
	newFailures, newRemaining []*Pod
	// unrecorded counts the finished pods that do not fit into this status.
	unrecorded int32
}

// record moves recorded pods whose finalizer is gone into the counters, and records pods that have finished since, as
// many as one status may hold.
func record(job *jobView, pods *podLists, ended endedSets, failed, remaining []*Pod) ledger {
	l := ledger{
		completedIndexes: job.completedIndexes,
		failedIndexes:    ended.failed,
		countedSuccess:   job.status.Succeeded,
		countedFailure:   job.status.Failed,
	}
	// Recorded UIDs whose pod still has its finalizer are kept, in their order; the others are counted (TRK-05).
	if u := job.status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Succeeded {
			switch {
			case job.uncounted[uid] != resultSucceeded:
			case pods.held[uid]:
				l.uncountedSuccess = append(l.uncountedSuccess, uid)
			default:
				l.countedSuccess++
			}
		}
		for _, uid := range u.Failed {
			if pods.held[uid] {
				l.uncountedFailure = append(l.uncountedFailure, uid)
				continue
			}
			l.countedFailure++
		}
	}

	// Pods that have ended come first: they may be the reason that the Job ends.
	room := pods.room(job.cfg)
	take := func(list []*Pod) []*Pod {
		slices.SortFunc(list, compareForRecord)
		n := min(room, len(list))
		room -= n
		l.unrecorded += int32(len(list) - n)
		l.records = l.records || n > 0
		return list[:n]
	}
	l.newFailures = take(failed)
	succeeded := take(pods.succeeded)
	l.newRemaining = take(remaining)
	for _, list := range [][]*Pod{l.newFailures, l.newRemaining} {
		for _, p := range list {
			l.uncountedFailure = append(l.uncountedFailure, p.UID)
		}
	}

	// A success is recorded by its index in an Indexed Job, otherwise by the UID of the pod.
	if job.indexed {
		l.completedIndexes = job.completedIndexes.Union(indexesOf(succeeded))
		l.countedSuccess, l.kept = completedCount(job, l.completedIndexes)
		return l
	}
	for _, p := range succeeded {
		l.uncountedSuccess = append(l.uncountedSuccess, p.UID)
	}
	return l
}

// explain adds the ledger to the findings.
func (l *ledger) explain(v verdicts, plan *planner) {
	f := &plan.Findings
	f.CompletedIndexes, f.FailedIndexes = l.completedIndexes, l.failedIndexes
	f.RecordedFailed = v.list(slices.Concat(l.newFailures, l.newRemaining))
	f.Unrecorded, f.CountKept = l.unrecorded, l.kept
}

// completedCount returns status.succeeded of an Indexed Job. The API server lets it decrease only while completions and
// parallelism are equal. If both are lowered and then one of them again before we see it, the old count is kept:
// otherwise no status would ever be accepted again (STV-18).
func completedCount(job *jobView, completed indexset.Set) (int32, *CountKept) {
	n := int32(completed.Len())
	if n < job.status.Succeeded && job.parallelism != job.completions {
		return job.status.Succeeded, &CountKept{job.status.Succeeded, n}
	}
	return n, nil
}

// recordable returns the succeeded pods that fit into one status along with every failure.
func recordable(job *jobView, pods *podLists) []*Pod {
	room := max(0, pods.room(job.cfg)-len(pods.failed)-len(pods.unreported))
	if len(pods.succeeded) <= room {
		return pods.succeeded
	}
	slices.SortFunc(pods.succeeded, compareForRecord)
	return pods.succeeded[:room]
}

// compareForRecord orders pods independently of the cache; pods that have ended come before pods that only count as
// failed.
func compareForRecord(a, b *Pod) int {
	return cmp.Or(compareBool(b.IsTerminal(), a.IsTerminal()), a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
