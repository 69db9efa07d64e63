package reconcile

import "slices"

// claimPods settles which pods are the Job's: strays that its selector selects
// become so, and pods that it no longer selects are let go (KEP-2307, TRK-25). A Job
// that is being deleted changes nothing about that (JOB-37).
func (s *state) claimPods() {
	for _, p := range s.Strays {
		s.noteRecorded(p)
	}
	if s.deleting {
		return
	}
	for _, p := range s.Strays {
		if p.IsTerminal() && !p.Finalizer {
			continue // It has been counted, or nobody asked for that (TRK-12).
		}
		s.moving = true
		if !s.Skip[p.UID] {
			// It may be deleted, or taken by another, at this moment (JOB-37).
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
		s.moving = true
		s.noteRecorded(p)
		if !s.Skip[p.UID] {
			s.plan.Disown = append(s.plan.Disown, ref(p, unconditional))
		}
	}
	s.Pods = selected
}

// noteRecorded keeps the record of a pod that is not among the Job's at the moment, as
// long as it holds the finalizer: it may come back, and must not be counted twice.
func (s *state) noteRecorded(p *Pod) {
	if _, recorded := s.uncounted[p.UID]; recorded && p.Finalizer {
		s.seen[p.UID] = true
	}
}
