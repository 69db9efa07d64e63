package model

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// observation holds the pods at the time of a sync, and the results that the status does not count yet.
type observation struct {
	active, terminating []*pod
	// succeeded and failed hold the ended pods that are not settled; ignored holds the failed pods that a
	// podFailurePolicy rule ignores.
	succeeded, failed []*pod
	ignored           map[*pod]bool
	// waiting holds, for each index, the failed pod that must be replaced before it is settled (BLI-07).
	waiting map[int]*pod
}

func (n *observation) failures() int32 { return int32(len(n.failed) - len(n.ignored)) }

// sync is one sync of the controller with the whole state, and all its consequences.
func (w *world) sync() {
	if w.job.terminal != nil {
		for _, p := range w.pods {
			p.settled = true
		}
		w.forget()
		return
	}
	next, seen := w.job.clone(), w.observe()
	stays := w.DeletedIsNotResumed && w.deleting && next.suspended != nil && next.suspended.Status == corev1.ConditionTrue
	if next.start == Never && !w.spec.suspend() && !stays {
		next.start = w.second()
	}
	w.countIndexes(&next, seen)
	if next.ending == nil {
		next.ending = w.verdict(&next, seen)
	}
	changed, doomed := false, next.ending != nil
	if !doomed {
		changed = w.manage(&next, seen)
	}
	if changed = w.conclude(next, seen, doomed) || changed; changed {
		w.wakeBy(w.now + w.pace.draw())
	}
}

// manage manages the pods of an unfinished Job, and then checks whether the Job has ended.
func (w *world) manage(next *status, seen *observation) (changed bool) {
	if !w.deleting {
		changed = w.managePods(next, seen)
		if w.ReplacedStays && w.spec.perIndex() && w.pace.rng.IntN(2) == 0 {
			w.wait(next, seen)
		}
	}
	if next.ending = w.enough(next, seen); next.ending == nil && !w.deleting {
		w.suspension(next)
	}
	return changed
}

// conclude counts the due pods and adds the conditions of a decided Job. Consequences of a new verdict may wait for the
// next sync.
func (w *world) conclude(next status, seen *observation, doomed bool) bool {
	if w.StartTimeAtEnd && next.ending != nil && next.start == Never {
		next.start = w.second()
	}
	waits := nothing
	if w.job.ending == nil {
		waits = w.pace.staged
	}
	ending := next.ending != nil && waits != everything
	due := w.due(seen, ending)
	w.enter(&next, due, ending)
	changed := doomed && waits == nothing && w.deleteActive()
	changed = w.store(next, due) || changed
	changed = waits == nothing && w.finish() || changed
	w.forget()
	return changed
}

// observe returns the current observation.
func (w *world) observe() *observation {
	n := &observation{ignored: map[*pod]bool{}, waiting: map[int]*pod{}}
	for _, p := range w.pods {
		switch {
		case p.active():
			n.active = append(n.active, p)
		case p.terminating():
			n.terminating = append(n.terminating, p)
		}
		switch {
		case p.settled || !w.spec.mine(p):
		case p.phase == corev1.PodSucceeded:
			n.succeeded = append(n.succeeded, p)
		case w.spec.hasFailed(p):
			n.failed = append(n.failed, p)
			if w.spec.matchPolicy(p).action == batchv1.PodFailurePolicyActionIgnore {
				n.ignored[p] = true
			}
		}
	}
	return n
}

// countIndexes adds the newly completed and failed indexes (JOB-10, BLI-02, BLI-11).
func (w *world) countIndexes(next *status, seen *observation) {
	if !w.spec.indexed() {
		return
	}
	completions := int(*w.spec.Completions)
	next.done, next.lost = next.done.below(completions), next.lost.below(completions)
	for _, p := range seen.succeeded {
		next.done[p.index] = true
	}
	next.succeeded = int32(len(next.done))
	if w.CountKept && !w.spec.elastic() {
		next.succeeded = max(next.succeeded, w.job.succeeded)
	}
	if !w.spec.perIndex() {
		return
	}
	for _, p := range seen.failed {
		action := w.spec.matchPolicy(p).action
		atLimit := !seen.ignored[p] && p.failures >= int(*w.spec.BackoffLimitPerIndex)
		if atLimit || action == batchv1.PodFailurePolicyActionFailIndex {
			next.lost[p.index] = true
		}
	}
	w.wait(next, seen)
}

// wait finds the failed pods that wait for the replacement in their index (BLI-06).
func (w *world) wait(next *status, seen *observation) {
	for _, p := range seen.failed {
		running := slices.ContainsFunc(seen.active, func(other *pod) bool { return other.index == p.index && other.active() })
		if running || next.done[p.index] || next.lost[p.index] {
			continue
		}
		before := seen.waiting[p.index]
		if before == nil || p.failures+p.ignored >= before.failures+before.ignored {
			seen.waiting[p.index] = p
		}
	}
}

// due returns the pods to settle.
func (w *world) due(seen *observation, ending bool) (due []*pod) {
	for _, p := range w.pods {
		failed := w.spec.hasFailed(p) && seen.waiting[p.index] != p
		if !p.settled && (w.deleting || ending || p.phase == corev1.PodSucceeded || failed) {
			due = append(due, p)
		}
	}
	return due
}

// enter counts the due pods.
func (w *world) enter(next *status, due []*pod, ending bool) {
	failing := ending && next.ending.Type == batchv1.JobFailureTarget
	for _, p := range due {
		switch {
		case p.phase == corev1.PodSucceeded && w.spec.mine(p) && !w.spec.indexed():
			next.succeeded++
		case w.spec.countsAsFailed(p, failing):
			next.failed++
		}
	}
}

// store stores the status unless the API server rejects it, and reports whether it changed.
func (w *world) store(next status, due []*pod) bool {
	if w.spec.refuses(w.job, next) {
		return false
	}
	changed := len(due) > 0 || next.ending != w.job.ending || next.suspended != w.job.suspended || next.start != w.job.start
	for _, p := range due {
		p.settled = true
		switch {
		case !w.spec.mine(p):
		case p.phase == corev1.PodSucceeded:
			w.pasts.lastSuccess = max(w.pasts.lastSuccess, p.finish())
		case w.spec.hasFailed(p):
			w.pasts.failures = append(w.pasts.failures, p.finish())
		}
	}
	w.job = next
	return changed
}

// deleteActive deletes the active pods of a Job whose outcome is decided.
func (w *world) deleteActive() (changed bool) {
	for _, p := range w.pods {
		if p.active() {
			p.deleted = w.now
			p.killed = !p.running()
			changed = true
		}
	}
	return changed
}

// finish adds the terminal condition when no pod runs or terminates anymore (MGB-10).
func (w *world) finish() bool {
	if w.job.ending == nil {
		return false
	}
	for _, p := range w.pods {
		if !p.over() && (!p.settled || !p.killed) {
			return false
		}
	}
	next := w.job.clone()
	next.ended = w.second()
	next.terminal = &Condition{batchv1.JobFailed, corev1.ConditionTrue, next.ending.Reason, next.ending.Message}
	if next.ending.Type == batchv1.JobSuccessCriteriaMet {
		next.terminal.Type, next.end = batchv1.JobComplete, w.second()
	}
	if w.spec.refuses(w.job, next) {
		return false
	}
	w.job = next
	return true
}
