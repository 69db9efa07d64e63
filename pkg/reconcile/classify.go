package reconcile

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
)

// podLists holds the selected pods, classified by their meaning for the Job. A pod is in several lists, or in none.
type podLists struct {
	all []*Pod

	active      []*Pod // IsActive, and the tracking finalizer is on
	untracked   []*Pod // IsActive, without the finalizer
	terminating []*Pod // IsTerminating, with or without the finalizer
	succeeded   []*Pod // to be recorded as succeeded
	failed      []*Pod // to be recorded as failed
	ignored     []*Pod // failed, and not to be counted (action Ignore)
	unreported  []*Pod // in phase Failed, but the status of their containers is not final yet
	outOfRange  []*Pod // ended, without an index of the Job
	tooLate     []*Pod // succeeded after their index was stored as failed
	dropped     []*Pod // deleted because the Job has succeeded

	// settled holds the pods that need no record or have one, so that their finalizer can be removed.
	settled []PodRef
	// tracked is the number of pods with the tracking finalizer.
	tracked int
	// held holds the recorded pods that still have the finalizer, including pods that the Job does not control anymore.
	held map[types.UID]bool
	// attempts counts the pods of each index that failed, or are being replaced.
	attempts map[int32]int32
	// history is the evidence for the back-off from pods that need no record.
	history backoff.History
}

// room returns how many more pods the next status can record.
func (l *podLists) room(c Config) int { return max(0, c.MaxUncounted-len(l.held)) }

// haveEnded reports whether all pods have ended and their ends are reported: nothing changes before new pods start.
func (l *podLists) haveEnded() bool {
	return len(l.active)+len(l.untracked)+len(l.terminating)+len(l.unreported) == 0
}

// dateFailures returns the pods, with the time at which the caller saw the end of each failed pod whose status does not
// show when it ended: with the time of its creation, the back-off would be over at once.
func dateFailures(pods []*Pod, since map[types.UID]time.Time) []*Pod {
	dated := pods
	for i, p := range pods {
		if at, seen := since[p.UID]; seen && p.EndUnknown && at.After(p.FinishedAt) {
			if &dated[0] == &pods[0] {
				dated = slices.Clone(pods)
			}
			end := *p
			end.FinishedAt = at
			dated[i] = &end
		}
	}
	return dated
}

// classify classifies each pod by its meaning for the Job, independently of the other pods.
func classify(job *jobView, o *Observation, selected []*Pod) *podLists {
	pods := &podLists{all: selected, held: holdersOf(job, o), attempts: map[int32]int32{}}
	for _, p := range selected {
		if p.IsTerminating() {
			pods.terminating = append(pods.terminating, p)
		}
		if p.Phase == corev1.PodFailed || p.IsTerminating() {
			pods.attempts[p.Index]++
		}
		switch {
		case p.Finalizer:
			pods.tracked++
			if r, recorded := job.uncounted[p.UID]; recorded {
				pods.addRecorded(p, r)
			} else {
				pods.addTracked(job, o, p)
			}
		case p.IsActive():
			pods.untracked = append(pods.untracked, p)
		case !job.inRange(p):
		case p.Deleting:
			// Without the finalizer, it may have been removed by us, or have failed because it was deleted: its result
			// means nothing (PRP-05).
		case p.Phase == corev1.PodFailed:
			pods.history.Failure(p.UID, p.FinishedAt)
		case p.Phase == corev1.PodSucceeded:
			pods.history.Success(p.FinishedAt)
		}
	}
	// Decisions and findings do not depend on the order of the pods. Lists that are long in a healthy Job need no
	// sorting.
	for _, list := range [][]*Pod{pods.failed, pods.unreported, pods.untracked, pods.outOfRange, pods.tooLate, pods.dropped} {
		slices.SortFunc(list, compareFailures)
	}
	return pods
}

// addRecorded adds a pod whose result is stored: its finalizer can be removed once it has stopped running.
func (l *podLists) addRecorded(p *Pod, r result) {
	if r == resultFailed {
		l.history.Failure(p.UID, p.FinishedAt)
	} else {
		l.history.Success(p.FinishedAt)
	}
	if p.IsActive() {
		l.active = append(l.active, p)
	} else {
		l.settled = append(l.settled, ref(p, unconditional))
	}
}

// addTracked adds a pod with the finalizer that is not recorded yet.
func (l *podLists) addTracked(job *jobView, o *Observation, p *Pod) {
	// If SuccessCriteriaMet is stored, so are all failures known at that time. Pods that are deleted later are deleted
	// because of it, and count neither as failed nor as succeeded (SUC-14).
	hasSucceeded := job.stored.succeeding()
	switch {
	case p.IsActive():
		l.active = append(l.active, p)

	// A pod without an index of the Job never counts (TRK-29).
	case !job.inRange(p):
		l.outOfRange = append(l.outOfRange, p)
		l.settled = append(l.settled, outOfRangeRef(p, unconditional))

	case p.Phase == corev1.PodSucceeded:
		l.history.Success(p.FinishedAt)
		switch {
		case job.completedIndexes.Contains(p.Index):
			l.settled = append(l.settled, ref(p, unconditional))
		case job.failedIndexes.Contains(p.Index):
			// The failure is stored: the index can no longer succeed (BLI-12).
			l.tooLate = append(l.tooLate, p)
			l.settled = append(l.settled, ref(p, unconditional))
		default:
			l.succeeded = append(l.succeeded, p)
		}

	case p.Phase == corev1.PodFailed:
		switch {
		case p.Deleting && hasSucceeded:
			l.dropped = append(l.dropped, p)
			l.settled = append(l.settled, ref(p, unconditional))
		case awaitsReport(job, o, p):
			l.unreported = append(l.unreported, p)
		default:
			l.failed = append(l.failed, p)
		}

	// The pod is being deleted, and still runs.
	case hasSucceeded:
		l.dropped = append(l.dropped, p)
		l.settled = append(l.settled, ref(p, ifUnchanged))
	case !job.replaceFailedOnly:
		l.failed = append(l.failed, p)
	}
}

// awaitsReport reports whether the podFailurePolicy has to wait until the pod's status shows how it ended. A busy
// kubelet may report the phase first; a verdict without exit codes would be final (ADR 0012).
func awaitsReport(job *jobView, o *Observation, p *Pod) bool {
	_, known := o.FailedSince[p.UID]
	mayWait := job.spec.PodFailurePolicy != nil && !job.deleting && !job.stored.decided()
	return mayWait && p.Unreported && known && job.now.Before(reportDue(job, o, p))
}

func reportDue(job *jobView, o *Observation, p *Pod) time.Time {
	return o.FailedSince[p.UID].Add(job.cfg.ReportWait)
}

// explainClassified adds findings about the pods that no status will count, and the pods whose report is awaited.
func explainClassified(job *jobView, o *Observation, pods *podLists, plan *planner) {
	for _, p := range pods.unreported {
		due := reportDue(job, o, p)
		plan.requeue(job.wait(due))
		plan.Findings.Unreported = append(plan.Findings.Unreported, Unreported{p, due})
	}
	for _, p := range pods.outOfRange {
		plan.notCounted(p, OutOfRange)
	}
	for _, p := range pods.tooLate {
		plan.notCounted(p, IndexFailedBefore)
	}
	for _, p := range pods.dropped {
		plan.notCounted(p, DeletedAfterSuccess)
	}
}

func compareFailures(a, b *Pod) int {
	return cmp.Or(a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
