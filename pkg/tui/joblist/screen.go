package joblist

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// listScreen is the list of Jobs.
type listScreen struct {
	// what is the set of Jobs in words.
	what  string
	table widget.Table
	// stats are derived once for each list.
	stats stats
}

// New lists the Jobs of a Snapshot; what is the set of Jobs in words, such as "namespace ml".
func New(what string) screen.Screen {
	return &listScreen{what: what, table: widget.Table{Sorting: widget.Sorting{Orders: jobOrders()}}}
}

func (s *listScreen) Focus() snapshot.Focus { return snapshot.Focus{} }

func (s *listScreen) Crumb() string { return "Jobs" }

func (s *listScreen) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if q, known := s.table.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	chosen := s.chosen(d)
	if chosen == nil {
		return screen.Action{}, false
	}
	at := snapshot.JobKey{Namespace: chosen.Namespace, Name: chosen.Name}
	switch {
	case widget.Matches(k, widget.KeyOpen):
		return screen.Action{Open: job.New(at)}, true
	case widget.Matches(k, widget.KeyExplain):
		return screen.Action{Open: job.New(at), Explain: at}, true
	case widget.Matches(k, widget.KeyCopy):
		return screen.Action{Copy: chosen.Name}, true
	}
	return screen.Action{}, false
}

func (s *listScreen) Wheel(lines int, _ *screen.Data) { s.table.Wheel(lines) }

func (s *listScreen) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "Jobs", Bindings: s.table.Keys(widget.KeyOpen, widget.KeyExplain)}}
}

// ChosenJob is the one under the cursor.
func (s *listScreen) ChosenJob(d *screen.Data) (snapshot.JobKey, explain.Fate) {
	chosen := s.chosen(d)
	if chosen == nil {
		return snapshot.JobKey{}, ""
	}
	return snapshot.JobKey{Namespace: chosen.Namespace, Name: chosen.Name}, chosen.Fate
}

// chosen is the Job under the cursor, nil if there is none.
func (s *listScreen) chosen(d *screen.Data) *explain.Outline {
	jobs := d.Snap.Jobs
	if jobs == nil {
		return nil
	}
	s.arrange(jobs, d.Snap.AsOf())
	if i := s.table.Chosen(); i >= 0 {
		return &jobs.Items[i]
	}
	return nil
}

func (s *listScreen) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	jobs := d.Snap.Jobs
	if jobs == nil {
		return d.Waiting(p, "Reading the Jobs"+s.of())
	}
	s.stats.derive(jobs, p)
	s.arrange(jobs, d.Snap.AsOf())
	lines := s.summary(p, jobs)
	if l := s.table.Filter.Line(p, s.table.Len(), len(jobs.Items), "Jobs"); l != nil {
		lines = append(lines, l)
	}
	if s.table.Len() == 0 {
		return append(lines, s.empty(p, jobs)...)
	}
	bar := s.barWidth(p)
	key := func(i int32) string { return jobs.Items[i].Namespace + "/" + jobs.Items[i].Name }
	cells := func(i int32) []layout.Line { return s.cells(p, &jobs.Items[i], bar) }
	return append(lines, s.table.Lines(p.Sized(p.Width, p.Height-len(lines)), s.columns(p, bar), key, cells)...)
}

// of is " of namespace ml".
func (s *listScreen) of() string {
	if s.what == "" {
		return ""
	}
	return " of " + s.what
}

// empty is why there is nothing to show, and what to do about it.
func (s *listScreen) empty(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	if len(jobs.Items) > 0 {
		return []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "No Job has these words in its namespace, name, status, reason or rule."))}
	}
	lines := []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "New Jobs appear here."))}
	return append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "Other Jobs: -n NAMESPACE for another namespace, -A for all of them, -l for a label.")), 0)...)
}

// summary is how many Jobs there are of each kind, those that need attention first, and the
// order.
func (s *listScreen) summary(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	title := layout.Of(layout.Text(layout.Bold, wording.Plural(int64(len(jobs.Items)), "Job", "Jobs")))
	if len(jobs.Items) == 0 {
		title = layout.Of(layout.Text(layout.Bold, "No Jobs"))
	}
	if s.what != "" {
		title = append(title, layout.Text(layout.Muted, " in "), layout.Text(layout.Plain, s.what))
	}
	if len(jobs.Items) == 0 {
		return []layout.Line{p.Cut(title, p.Width)}
	}
	return append(s.table.Sorting.Title(p, title, ": ", s.counts(p)), missing(p, jobs)...)
}

// missing is a note on what could not be read, without which Jobs look as if they ran.
func missing(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	if len(jobs.Gaps) == 0 {
		return nil
	}
	return p.Wrap(layout.Of(layout.Text(layout.Muted, section.MissedStalls(jobs.Gaps))), 0)
}

// counts are how many Jobs there are of each kind.
func (s *listScreen) counts(p *widget.Paint) layout.Line {
	counts := s.stats.counts
	counts[running] += counts[runningWithFailures]
	counts[runningWithFailures] = 0
	var l layout.Line
	for k, n := range counts {
		if n == 0 {
			continue
		}
		mark, style := kind(k).look(p)
		l = append(l, layout.Text(style, mark+" "+wording.Count(n, kind(k).String())))
	}
	return l
}
