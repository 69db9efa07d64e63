package cli

import (
	"context"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveDraft is room for the facts of a report, which is used again for the next one: a report keeps nothing of it.
type liveDraft struct {
	pods   []explain.Pod
	events []explain.Event
}

// publishAll makes Snapshots until the context ends.
func (s *liveSource) publishAll(ctx context.Context) error {
	for {
		now := s.env.now()
		s.mu.Lock()
		wait := s.pace.due(s.need()).Sub(now)
		s.mu.Unlock()
		if wait <= 0 {
			s.report(now)
			s.publish()
		}
		if err := s.pause(ctx, wait, s.news); err != nil {
			return err
		}
	}
}

// need is what there is to be made. s.mu is held.
func (s *liveSource) need() liveNeed {
	n := liveNeed{view: s.changed, beats: s.job == nil && (s.list.running || s.list.shown == nil)}
	j := s.job
	if j == nil || j.facts == nil {
		return n
	}
	n.first = j.of != j.facts && (j.facts.podsTried || j.gone)
	if j.of == j.facts {
		n.facts = j.facts.changed
		n.clock = j.clock && !j.gone
	}
	return n
}

// report explains the Job that is open, if that is due. Nobody waits for it: what it rests on is copied before.
func (s *liveSource) report(now time.Time) {
	s.mu.Lock()
	at, ever := s.pace.report(s.need())
	if !ever || at.After(now) {
		s.mu.Unlock()
		return
	}
	j, of, gone := s.job, s.job.facts, s.job.gone
	facts := j.factsOf(now, &s.draft)
	of.changed = false
	s.mu.Unlock()

	report := analysis.Explain(facts, explain.Options{MaxPods: -1})
	ready := s.env.now()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.reported, s.pace.took = ready, ready.Sub(now)
	if j.facts != of {
		return // The Job is another one by now.
	}
	j.of, j.shown, j.clock = of, &snapshot.Job{Report: &report, Gone: gone}, !timeless(&report)
	of.askTails(&report, facts)
}

// timeless says that time changes nothing in the report: the Job has finished, and nothing waits.
func timeless(r *explain.Report) bool {
	ended := r.Verdict.Fate == explain.FateComplete || r.Verdict.Fate == explain.FateFailed
	return ended && len(r.Waits) == 0 && len(r.Problems) == 0
}

// publish makes a Snapshot of all there is.
func (s *liveSource) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.env.now()
	next := &snapshot.Snapshot{Seq: 1, Time: now, Focus: s.focus, Link: s.link.state(), Jobs: s.list.snapshot(now)}
	if s.latest != nil {
		next.Seq = s.latest.Seq + 1
	}
	if s.job != nil {
		next.Job = s.job.snapshot()
	}
	if s.pod != nil {
		next.Pod = s.pod.detail
	}
	if s.log != nil {
		next.Log = s.log.snapshot()
	}
	s.changed, s.pace.made, s.latest = false, now, next
	close(s.published)
	s.published = make(chan struct{})
}
