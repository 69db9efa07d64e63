package reconcile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// classify sorts the pods by what they mean for the Job, each on its own.
func (s *state) classify() {
	defer s.sortClassified()
	for _, p := range s.Pods {
		if p.IsTerminating() {
			s.terminating = append(s.terminating, p)
		}
		if p.Phase == corev1.PodFailed || p.IsTerminating() {
			s.attempts[p.Index]++
		}
		if p.Finalizer {
			s.tracked++
			s.classifyTracked(p)
			continue
		}
		switch {
		case p.IsActive():
			s.untracked = append(s.untracked, p)
		case !s.inRange(p):
		case p.Deleting:
			// Without the finalizer, it may have been removed by us, or have failed because
			// it was deleted: how it ended means nothing (PRP-05).
		case p.Phase == corev1.PodFailed:
			s.history.Failure(p.UID, p.FinishedAt)
		case p.Phase == corev1.PodSucceeded:
			s.history.Success(p.FinishedAt)
		}
	}
}

func (s *state) classifyTracked(p *Pod) {
	if r, recorded := s.uncounted[p.UID]; recorded {
		s.seen[p.UID] = true
		s.classifyRecorded(p, r)
		return
	}
	if s.indexed && (p.Index < 0 || p.Index >= s.completions) {
		s.classifyOutOfRange(p)
		return
	}
	switch {
	case p.Phase == corev1.PodSucceeded:
		s.history.Success(p.FinishedAt)
		s.classifySucceeded(p)
	case p.Phase == corev1.PodFailed:
		s.classifyFailed(p)
	case p.Deleting:
		s.classifyTerminating(p)
	default:
		s.active = append(s.active, p)
	}
}

func (s *state) classifyFailed(p *Pod) {
	switch {
	case p.Deleting && s.hasSucceeded():
		s.dropDeleted(p, unconditional)
	case s.awaitsReport(p):
		s.unreported = append(s.unreported, p)
	default:
		s.failed = append(s.failed, p)
	}
}

// awaitsReport reports whether the podFailurePolicy has to wait for how the pod ended. A busy
// kubelet may report the phase first; a verdict without exit codes would be final (ADR 0012).
func (s *state) awaitsReport(p *Pod) bool {
	since, known := s.UnreportedSince[p.UID]
	if !p.Unreported || !known || s.job.Spec.PodFailurePolicy == nil || s.deleting || s.outcome.stored {
		return false
	}
	until := since.Add(s.cfg.ReportWait)
	if !s.Now.Before(until) {
		return false
	}
	s.requeue(max(until.Sub(s.Now), s.cfg.MinRequeue))
	return true
}

func (s *state) classifySucceeded(p *Pod) {
	switch {
	case s.indexed && s.completedIndexes.Contains(p.Index):
		s.release(p, unconditional)
	case s.failedIndexes.Contains(p.Index):
		// The failure is stored: the index can no longer succeed (BLI-12).
		s.tooLate = append(s.tooLate, p)
		s.release(p, unconditional)
	default:
		s.succeeded = append(s.succeeded, p)
	}
}

// classifyRecorded handles a pod whose result is stored: its finalizer can go once it
// has stopped running.
func (s *state) classifyRecorded(p *Pod, r result) {
	if r == resultFailed {
		s.history.Failure(p.UID, p.FinishedAt)
	} else {
		s.history.Success(p.FinishedAt)
	}
	if p.IsActive() {
		s.active = append(s.active, p)
		return
	}
	s.release(p, unconditional)
}

// classifyOutOfRange handles a pod without an index of the Job, which never counts
// (TRK-29).
func (s *state) classifyOutOfRange(p *Pod) {
	if p.IsActive() {
		s.active = append(s.active, p)
		return
	}
	s.outOfRange = append(s.outOfRange, p)
	s.releaseOutOfRange(p, unconditional)
}

// sortClassified makes decisions and findings independent of the order of the pods.
// The lists that are long in a healthy Job need no sorting.
func (s *state) sortClassified() {
	for _, list := range [][]*Pod{s.failed, s.unreported, s.untracked, s.outOfRange, s.tooLate, s.dropped} {
		slices.SortFunc(list, compareFailures)
	}
	for _, p := range s.unreported {
		s.plan.Findings.Unreported = append(s.plan.Findings.Unreported, Unreported{p, s.UnreportedSince[p.UID].Add(s.cfg.ReportWait)})
	}
	for _, p := range s.outOfRange {
		s.notCounted(p, OutOfRange)
	}
	for _, p := range s.tooLate {
		s.notCounted(p, IndexFailedBefore)
	}
	for _, p := range s.dropped {
		s.notCounted(p, DeletedAfterSuccess)
	}
}

// classifyTerminating handles a tracked pod that is being deleted and still runs.
func (s *state) classifyTerminating(p *Pod) {
	switch {
	case s.hasSucceeded():
		s.dropDeleted(p, ifUnchanged)
	case !s.replaceFailedOnly:
		s.failed = append(s.failed, p)
	}
}

// hasSucceeded reports whether SuccessCriteriaMet is stored, and with it all failures that were
// known at that time (canRecordFailed).
func (s *state) hasSucceeded() bool { return s.outcome.stored && s.outcome.succeeding() }

// dropDeleted releases a pod that was deleted because the Job has succeeded: it counts
// neither as a failure nor as a success (SUC-14).
func (s *state) dropDeleted(p *Pod, when precondition) {
	s.dropped = append(s.dropped, p)
	s.release(p, when)
}
