package reconcile

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// releaseDeleted releases the pods of a Job that is being deleted, including those that
// run, which never count then (TRK-24). A Job that a finalizer keeps until it ends, ends
// like any other.
func (s *state) releaseDeleted() {
	if !s.deleting || s.outcome.decided() {
		return
	}
	for _, p := range slices.Concat(s.active, s.terminating) {
		_, recorded := s.uncounted[p.UID]
		if p.Finalizer && (p.IsActive() || s.replaceFailedOnly && !recorded && s.inRange(p)) {
			s.release(p, ifUnchanged) // One that terminates has failed otherwise (PRP-05).
		}
	}
}

// managePods removes pods that should not run and creates those that should. A
// plan that removes creates nothing (JOB-08).
func (s *state) managePods() {
	if s.outcome.decided() || s.successMet || s.deleting {
		return
	}
	s.needsPodGroup = s.checkScheduling()
	fit, misfits := s.fitPods()
	wantActive := s.wantActive(len(fit))
	for _, p := range s.untracked {
		s.delete(p)
	}
	slices.SortFunc(misfits, compareFailures)
	s.plan.Findings.Untracked, s.plan.Findings.Misfits = s.untracked, misfits
	for _, p := range misfits {
		if s.inRange(p) {
			s.release(p, ifUnchanged)
		} else {
			s.releaseOutOfRange(p, ifUnchanged)
		}
	}
	if excess := len(fit) - wantActive; excess > 0 {
		s.removeExcess(fit, excess)
		return
	}
	// Pods that cannot be removed in this sync only take up room.
	stuck := 0
	for _, p := range slices.Concat(s.untracked, misfits) {
		if !s.Skip[p.UID] {
			return
		}
		stuck++
	}
	s.createPods(wantActive-len(fit)-stuck, wantActive)
}

func indexesOf(pods []*Pod) indexset.Set {
	indexes := make([]int32, 0, len(pods))
	for _, p := range pods {
		indexes = append(indexes, p.Index)
	}
	return indexset.Of(indexes...)
}

// allCompletedIndexes returns every index that has succeeded, recorded or not.
func (s *state) allCompletedIndexes() indexset.Set {
	return s.completedIndexes.Union(s.newCompletedIndexes)
}

// wantActive is how many pods should be active (JOB-02, JOB-03); fit is how many are and may be.
func (s *state) wantActive(fit int) int {
	if s.suspended {
		return 0
	}
	succeeded := s.succeededCount()
	if s.noCompletions {
		if succeeded > 0 {
			return fit // Running pods may finish, whatever the parallelism is now.
		}
		return int(s.parallelism)
	}
	return int(max(0, min(s.parallelism, s.completions-succeeded-int32(s.allFailedIndexes().Len()))))
}

// fitPods separates the active pods that should run from those that should not: pods
// of no index that still has to run, and all but the most advanced pod of each index
// (JOB-08).
func (s *state) fitPods() (fit, misfits []*Pod) {
	if !s.indexed {
		return s.active, nil
	}
	done := s.endedIndexes()
	fit = make([]*Pod, 0, len(s.active))
	for _, p := range s.active {
		if !s.inRange(p) || done.Contains(p.Index) {
			misfits = append(misfits, p)
		} else {
			fit = append(fit, p)
		}
	}
	if strictlyIncreasing(fit) {
		return fit, misfits
	}
	return mostAdvanced(fit, misfits)
}

// mostAdvanced keeps the most advanced pod of each index, and adds the others to the misfits.
func mostAdvanced(pods, misfits []*Pod) (fit, _ []*Pod) {
	best := make(map[int32]*Pod, len(pods))
	for _, p := range pods {
		switch other := best[p.Index]; {
		case other == nil:
			best[p.Index] = p
		case compareForRemoval(p, other) > 0:
			best[p.Index] = p
			misfits = append(misfits, other)
		default:
			misfits = append(misfits, p)
		}
	}
	for _, p := range pods {
		if best[p.Index] == p {
			fit = append(fit, p)
		}
	}
	return fit, misfits
}

// strictlyIncreasing reports whether the pods are sorted by index, and no two share one.
func strictlyIncreasing(pods []*Pod) bool {
	for i := 1; i < len(pods); i++ {
		if pods[i-1].Index >= pods[i].Index {
			return false
		}
	}
	return true
}

// removeExcess removes n of the pods, the least advanced first (JOB-12). This stage
// removes the finalizer only: the next one deletes the pods, which then never count.
func (s *state) removeExcess(pods []*Pod, n int) {
	victims := slices.Clone(pods)
	slices.SortFunc(victims, compareForRemoval)
	s.plan.Findings.Excess = victims[:min(n, s.cfg.MaxPodChanges)]
	for _, p := range s.plan.Findings.Excess {
		s.release(p, ifUnchanged)
	}
}

// compareForRemoval orders pods by how little is lost with them: unscheduled
// before scheduled, Pending before Unknown before Running, not ready before
// ready, ready for a shorter time first, more restarts first, newer first
// (JOB-12). The name decides between equals, so that the order is total.
func compareForRemoval(a, b *Pod) int {
	return cmp.Or(
		compareBool(a.Scheduled, b.Scheduled),
		cmp.Compare(phaseRank(a.Phase), phaseRank(b.Phase)),
		compareBool(a.Ready, b.Ready),
		b.ReadySince.Compare(a.ReadySince),
		cmp.Compare(b.Restarts, a.Restarts),
		b.CreatedAt.Compare(a.CreatedAt),
		cmp.Compare(b.Name, a.Name),
		cmp.Compare(b.UID, a.UID),
	)
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

func phaseRank(p corev1.PodPhase) int {
	switch p {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
		return 1
	}
	return 2
}

// createPods plans up to room new pods, unless they have to wait.
func (s *state) createPods(room, wantActive int) {
	if s.replaceFailedOnly && len(s.terminating) > 0 && room > 0 {
		s.plan.Findings.WaitTerminating = count32(s.terminating)
		// Indexes that have failed leave room for pods that terminate (PRP-07).
		spare := min(s.allFailedIndexes().Len(), int(s.parallelism)-wantActive)
		room -= max(0, len(s.terminating)-spare)
	}
	room -= len(s.unreported)
	if room <= 0 || !s.perIndex && s.backingOff() || s.held() {
		return
	}
	room = min(room, s.cfg.MaxPodChanges)
	if s.indexed {
		s.createIndexes(room)
	} else {
		for range room {
			s.plan.Create = append(s.plan.Create, NewPod{Index: NoIndex, Attempt: s.failures() + 1})
		}
	}
	if len(s.plan.Create) > 0 {
		s.plan.CreateReason = s.createReason()
	}
}

func (s *state) createReason() CreateReason {
	failed := s.failures() > 0
	switch {
	case !s.cfg.Features.PodReplacementPolicy:
		return CreateNew
	case s.replaceFailedOnly && failed:
		return RecreateFailed
	case !s.replaceFailedOnly && (failed || len(s.terminating) > 0):
		return RecreateTerminatingOrFailed
	}
	return CreateNew
}

// held reports whether nothing is created in this stage: a creation failed, pods have to be
// adopted or disowned first, or the Job asks for a PodGroup.
func (s *state) held() bool { return s.HoldCreation || s.claimsPending || s.needsPodGroup }

// createIndexes plans a pod for each of the n lowest indexes that may start now: an index
// in back-off does not delay others (BLI-24, D-14).
func (s *state) createIndexes(n int) {
	taken := s.endedIndexes().Union(indexesOf(s.active)).Union(indexesOf(s.untracked)).Union(indexesOf(s.unreported))
	if s.replaceFailedOnly {
		taken = taken.Union(indexesOf(s.terminating))
	}
	waiting, until := s.backingOffIndexes()
	s.plan.Findings.RetryHeld = !waiting.IsEmpty()
	for _, index := range taken.Union(waiting).FirstMissing(n, s.completions) {
		created := NewPod{Index: index, Attempt: s.attempts[index] + 1}
		if s.perIndex {
			created = s.successorOf(index, s.predecessors[index])
		}
		s.plan.Create = append(s.plan.Create, created)
	}
	if len(s.plan.Create) < n && !until.IsZero() {
		s.requeue(max(until.Sub(s.Now), s.cfg.MinRequeue))
	}
}

// backingOff reports whether failures delay all creation (JOB-19).
func (s *state) backingOff() bool {
	h := s.history.Clone()
	for _, p := range slices.Concat(s.failed, s.ignored, s.unreported) {
		h.Failure(p.UID, p.FinishedAt)
	}
	r := s.Backoff.After(h)
	until := r.Until(s.cfg.Backoff)
	if !s.Now.Before(until) {
		return false
	}
	s.plan.Findings.Backoff = &Backoff{r.Failures, until}
	s.requeue(max(until.Sub(s.Now), s.cfg.MinRequeue))
	return true
}

// backoffRecord is what to remember once the failures in recorded are stored. The others will be
// added with the status that records them, and ignored failures (PFP-06) when their pods are
// released (PodRef.IgnoredFailure).
func (s *state) backoffRecord(recorded map[types.UID]bool) backoff.Record {
	h := s.history.Clone()
	for _, p := range s.failed {
		if recorded[p.UID] {
			h.Failure(p.UID, p.FinishedAt)
		}
	}
	return s.Backoff.After(h)
}
