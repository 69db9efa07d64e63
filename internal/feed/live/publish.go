package live

import (
	"context"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// draft holds slices that are reused from report to report; a report keeps no reference to them.
type draft struct {
	pods   []*input.Pod
	events []input.Event
}

// publishAll makes Snapshots until ctx is done.
func (s *Source) publishAll(ctx context.Context) error {
	for {
		now := s.Now()
		s.mu.Lock()
		wait := s.pace.due(s.need()).Sub(now)
		s.mu.Unlock()
		if wait <= 0 {
			s.report(ctx, now)
			s.publish()
		}
		if err := s.Pause(ctx, wait, s.wake); err != nil {
			return err
		}
	}
}

// need returns what has to be made now. The caller holds s.mu.
func (s *Source) need() need {
	n := need{view: s.changed.Load(), ticks: s.job == nil && (s.list.hasRunning || s.list.shown == nil)}
	j := s.job
	if j == nil || j.related == nil {
		return n
	}
	n.first = j.shownOf != j.related && (j.related.podsTried || j.gone)
	if j.shownOf == j.related {
		n.facts = j.related.changed
		n.clock = j.isTimed && !j.gone
	}
	return n
}

// report explains the open Job if that is due. It copies its input first, and does not hold s.mu while explaining.
func (s *Source) report(ctx context.Context, now time.Time) {
	s.mu.Lock()
	at, needed := s.pace.report(s.need())
	if !needed || at.After(now) {
		s.mu.Unlock()
		return
	}
	j, of := s.job, s.job.related
	facts := j.input(s.link.AsOf(now), &s.draft)
	of.changed = false
	s.mu.Unlock()

	report := analysis.Explain(facts, explain.Options{MaxPods: -1})
	if s.Quote != nil && report.IsTimeless() {
		s.Quote(ctx, facts, report.Advice)
	}
	ready := s.Now()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.reported, s.pace.took = ready, ready.Sub(now)
	if j.related != of {
		return // The Job was replaced meanwhile.
	}
	j.shownOf, j.shown, j.isTimed = of, &snapshot.Job{Report: &report}, !report.IsTimeless()
	of.requestTails(&report, facts)
}

// publish makes a Snapshot of the current state.
func (s *Source) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Store(false) // A change from here on may be in this Snapshot, and is in the next one.
	now := s.Now()
	next := &snapshot.Snapshot{Seq: 1, Time: now, Focus: s.focus, Link: s.link.State().Link(s.Explain)}
	next.Jobs = s.list.snapshot()
	if s.latest != nil {
		next.Seq = s.latest.Seq + 1
	}
	if s.job != nil {
		next.Job = s.job.snapshot()
	}
	if s.cronJob != nil {
		next.CronJob = s.cronJob.report
	}
	if s.pod != nil {
		next.Pod = s.pod.detail
	}
	if s.log != nil {
		next.Log = s.log.Snapshot()
	}
	s.pace.made, s.latest = now, next
	close(s.published)
	s.published = make(chan struct{})
}
