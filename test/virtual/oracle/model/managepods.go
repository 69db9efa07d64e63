package model

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// managePods removes pods that should not run, or else creates missing pods, and reports whether it changed anything
// (JOB-02, JOB-03, JOB-08).
func (w *world) managePods(next *status, seen *observation) bool {
	want := w.spec.want(next, seen)
	if w.remove(seen.active, want) {
		return true
	}
	missing := want - len(seen.active)
	if w.spec.onlyFailed() {
		missing -= len(seen.terminating)
	}
	if missing <= 0 {
		return false
	}
	if !w.spec.perIndex() {
		past := w.pasts
		for _, p := range seen.succeeded {
			past.lastSuccess = max(past.lastSuccess, p.finish())
		}
		past.failures = slices.Clone(past.failures)
		for _, p := range seen.failed {
			past.failures = append(past.failures, p.finish())
		}
		if until := past.delay(); until > w.now {
			w.wakeAfter(until)
			return false
		}
	}
	if len(w.edits) > 0 && w.edits[0].At <= w.now && w.pace.rng.IntN(2) == 0 {
		missing = 1 + w.pace.rng.IntN(missing) // The next version of the spec ends the creations (SCL-16).
	}
	return w.create(missing, next, seen)
}

// remove removes pods with an index outside the Job, all but one pod per index, and excess pods, the least advanced
// first (JOB-12). None of them counts as failed.
func (w *world) remove(active []*pod, want int) bool {
	order := slices.Clone(active)
	w.pace.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, rank)
	var gone, left []*pod
	taken := map[int]bool{}
	for _, p := range slices.Backward(order) {
		if w.spec.indexed() && (!w.spec.mine(p) || taken[p.index]) {
			gone = append(gone, p)
			continue
		}
		taken[p.index] = true
		left = append(left, p)
	}
	slices.Reverse(left)
	for len(left) > 0 && len(gone) < len(active)-want {
		gone, left = append(gone, left[0]), left[1:]
	}
	for _, p := range gone {
		p.deleted, p.settled, p.killed = w.now, true, !p.running()
	}
	return len(gone) > 0
}

// rank returns a negative number if a is removed before b.
func rank(a, b *pod) int {
	switch {
	case a.running() != b.running() && b.running():
		return -1
	case a.running() != b.running():
		return 1
	case a.running() && a.started.Truncate(time.Second) != b.started.Truncate(time.Second):
		return sign(b.started.Truncate(time.Second) - a.started.Truncate(time.Second))
	case a.restarts() != b.restarts():
		return sign(time.Duration(b.restarts() - a.restarts()))
	}
	return sign(b.created.Truncate(time.Second) - a.created.Truncate(time.Second))
}

func sign(d time.Duration) int {
	switch {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}

// create creates up to n pods.
func (w *world) create(n int, next *status, seen *observation) bool {
	if !w.spec.indexed() {
		for range n {
			w.add(&pod{index: -1})
		}
		return true
	}
	created := false
	for _, index := range w.pending(n, next, seen) {
		p := &pod{index: index}
		if before := seen.waiting[index]; before != nil {
			if w.indexDelay(before) > w.now {
				continue
			}
			p.failures, p.ignored = before.failures, before.ignored
			if seen.ignored[before] {
				p.ignored++
			} else {
				p.failures++
			}
		}
		w.add(p)
		created = true
	}
	return created
}

// pending returns the first n indexes that need a pod and have none (JOB-07, PRP-08).
func (w *world) pending(n int, next *status, seen *observation) (out []int) {
	taken := map[int]bool{}
	for _, p := range seen.active {
		taken[p.index] = true
	}
	for _, p := range seen.terminating {
		taken[p.index] = taken[p.index] || w.spec.onlyFailed()
	}
	for i := 0; i < int(*w.spec.Completions) && len(out) < n; i++ {
		if taken[i] || next.done[i] || next.lost[i] {
			continue
		}
		if before := seen.waiting[i]; before != nil {
			until := w.indexDelay(before)
			if until > w.now {
				w.wakeAfter(until)
				if w.NoHeadOfLine && before.failures+before.ignored >= 3 {
					continue
				}
			}
		}
		out = append(out, i)
	}
	return out
}

// indexDelay returns when the index of a failed pod may continue (BLI-22).
func (w *world) indexDelay(p *pod) time.Duration {
	return p.finish() + backoff(p.failures+p.ignored+1)
}

func (w *world) add(p *pod) {
	w.made[p.index]++
	p.nth, p.phase = w.made[p.index], corev1.PodPending
	p.created, p.started, p.ended, p.deleted = w.now+time.Duration(w.pace.rng.Int64N(int64(w.pace.jitter)+1)), Never, Never, Never
	p.script = Script{Run: 2 * time.Second, Terminate: 2 * time.Second, TerminateExit: 143}
	for _, f := range w.Scripts {
		if (f.Index < 0 || f.Index == p.index) && (f.Nth == 0 || f.Nth == p.nth) {
			p.script = f
		}
	}
	w.pods = append(w.pods, p)
	w.out.Pods = append(w.out.Pods, Made{p.index, p.nth, p.created})
}

// suspension updates the condition Suspended and the startTime (JOB-25..28).
func (w *world) suspension(next *status) {
	switch was := next.suspended != nil && next.suspended.Status == corev1.ConditionTrue; {
	case w.spec.suspend() && !was:
		next.suspended = &Condition{batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended"}
		next.start = Never
	case !w.spec.suspend() && was:
		next.suspended = &Condition{batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed"}
		next.start = w.second()
	}
}
