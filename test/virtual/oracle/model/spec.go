package model

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// spec is the Job's spec, with values that depend only on it.
type spec struct{ *batchv1.JobSpec }

func (s spec) suspend() bool { return s.Suspend != nil && *s.Suspend }

func (s spec) indexed() bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

func (s spec) perIndex() bool { return s.BackoffLimitPerIndex != nil }

// onlyFailed reports whether pods are replaced only once they have failed (PRP-02).
func (s spec) onlyFailed() bool {
	return s.PodFailurePolicy != nil || s.PodReplacementPolicy != nil && *s.PodReplacementPolicy == batchv1.Failed
}

// elastic reports whether the number of succeeded pods may shrink.
func (s spec) elastic() bool {
	return s.indexed() && s.Completions != nil && *s.Completions == *s.Parallelism
}

// nothingToDo reports whether the Job may end without ever having started.
func (s spec) nothingToDo() bool {
	return s.suspend() && s.Completions != nil && *s.Completions == 0
}

// want returns how many pods should be active.
func (s spec) want(next *status, seen *observation) int {
	parallelism := int(*s.Parallelism)
	switch succeeded := s.successes(next, seen); {
	case s.suspend():
		return 0
	case s.Completions != nil:
		return max(0, min(parallelism, int(*s.Completions)-succeeded))
	case succeeded > 0:
		return len(seen.active)
	}
	return parallelism
}

// successes returns the number of known successes.
func (s spec) successes(next *status, seen *observation) int {
	if s.indexed() {
		return len(next.done)
	}
	return int(next.succeeded) + len(seen.succeeded)
}

// mine reports whether the pod can count for the Job.
func (s spec) mine(p *pod) bool {
	return !s.indexed() || p.index >= 0 && p.index < int(*s.Completions)
}

// hasFailed reports whether the pod counts as failed now (PRP-05, PRP-06).
func (s spec) hasFailed(p *pod) bool {
	if p.deleted != Never && !s.onlyFailed() {
		return p.phase != corev1.PodSucceeded
	}
	return p.phase == corev1.PodFailed
}

// countsAsFailed reports whether a settled pod counts as failed. When the Job fails, this includes every pod that has
// not ended, unless a rule ignores it (PRP-16).
func (s spec) countsAsFailed(p *pod, failing bool) bool {
	if p.phase == corev1.PodSucceeded || !s.mine(p) || s.matchPolicy(p).action == batchv1.PodFailurePolicyActionIgnore {
		return false
	}
	return failing || s.hasFailed(p)
}

// refuses reports whether the API server rejects the change from one status to the next.
func (s spec) refuses(before, next status) bool {
	for i := range next.lost {
		if next.done[i] {
			return true // STV-21
		}
	}
	if next.succeeded < before.succeeded && !s.elastic() {
		return true // STV-18
	}
	return next.terminal != nil && next.start == Never && !s.nothingToDo() // STV-14
}
