package reconcile

import "slices"

// claimPods adopts strays that the Job's selector matches, and disowns pods that it no
// longer matches (KEP-2307, TRK-25). A Job that is being deleted does neither (JOB-37).
func (s *state) claimPods() {
	for uid := range s.Held {
		s.seen[uid] = true
	}
	for _, p := range s.Strays {
		s.noteRecorded(p)
	}
	if s.deleting {
		return
	}
	for _, p := range s.Strays {
		if s.mayBeCounted(p) {
			continue
		}
		s.claimsPending = true
		if !s.Skip[p.UID] {
			// It may be about to be deleted, or to get another owner (JOB-37).
			s.plan.Adopt = append(s.plan.Adopt, ref(p, ifUnchanged))
		}
	}
	if !slices.ContainsFunc(s.Pods, func(p *Pod) bool { return p.Unselected }) {
		return
	}
	selected, unselected := make([]*Pod, 0, len(s.Pods)), []*Pod{}
	for _, p := range s.Pods {
		if p.Unselected {
			unselected = append(unselected, p)
		} else {
			selected = append(selected, p)
		}
	}
	slices.SortFunc(unselected, compareFailures)
	for _, p := range unselected {
		s.claimsPending = true
		s.noteRecorded(p)
		if !s.Skip[p.UID] {
			s.plan.Disown = append(s.plan.Disown, ref(p, unconditional))
		}
	}
	s.Pods = selected
}

// mayBeCounted reports whether a stray may have been counted before it lost the finalizer (TRK-12).
// A Job that fails counts its pods while they run (PRP-16), unlike one that somebody else made.
func (s *state) mayBeCounted(p *Pod) bool {
	isFailing := s.outcome.stored && !s.outcome.succeeding()
	return !p.Finalizer && (p.IsTerminal() || p.Made && isFailing)
}

// noteRecorded keeps the record of a pod that the Job does not control at the moment, as
// long as it has the finalizer: it may come back, and must not be counted twice.
func (s *state) noteRecorded(p *Pod) {
	if _, recorded := s.uncounted[p.UID]; recorded && p.Finalizer {
		s.seen[p.UID] = true
	}
}
