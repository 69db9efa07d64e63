package joblist

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// listScreen is the list of Jobs.
type listScreen struct {
	// what is the set of Jobs in words.
	what    string
	list    widget.List
	filter  widget.Filter
	sorting widget.Sorting
	// stats are derived once for each list, and rows for each list, filter and order.
	stats stats
	rows  rows
}

// New lists the Jobs of a Snapshot; what is the set of Jobs in words, such as "namespace ml".
func New(what string) screen.Screen {
	return &listScreen{what: what, sorting: widget.Sorting{Orders: jobOrders()}}
}

func (s *listScreen) Focus() snapshot.Focus { return snapshot.Focus{} }

func (s *listScreen) Crumb() string { return "Jobs" }

func (s *listScreen) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if q, known := s.filter.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	if s.sorting.Key(k, &s.list) {
		return screen.Done()
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

func (s *listScreen) Wheel(lines int, _ *screen.Data) { s.sorting.Wheel(lines, &s.list) }

func (s *listScreen) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "Jobs", Bindings: append([]widget.Binding{widget.KeyOpen, widget.KeyExplain}, append(s.filter.Keys(), widget.KeySort, widget.KeyReverse, widget.KeyCopy)...)}}
}

// chosen is the Job under the cursor, nil if there is none.
func (s *listScreen) chosen(d *screen.Data) *explain.Outline {
	jobs := d.Snap.Jobs
	if jobs == nil {
		return nil
	}
	s.rows.derive(s, jobs, d.Snap.Time)
	if s.list.Cursor >= len(s.rows.order) {
		return nil
	}
	return &jobs.Items[s.rows.order[s.list.Cursor]]
}

func (s *listScreen) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	jobs := d.Snap.Jobs
	if jobs == nil {
		return d.Waiting(p, "Reading the Jobs"+s.of())
	}
	s.stats.derive(jobs, p)
	s.rows.derive(s, jobs, d.Snap.Time)
	lines := s.summary(p, jobs)
	if l := s.filter.Line(p, len(s.rows.order), len(jobs.Items), "Jobs"); l != nil {
		lines = append(lines, l)
	}
	if len(s.rows.order) == 0 {
		return append(lines, s.empty(p, jobs)...)
	}
	key := func(row int) string {
		job := &jobs.Items[s.rows.order[row]]
		return job.Namespace + "/" + job.Name
	}
	s.list.Resize(len(s.rows.order), p.Height-len(lines)-1, key)
	first, end := widget.Rows(len(s.rows.order), s.list.Top, s.list.Height)
	return append(lines, s.table(p, jobs, first, end)...)
}

// of is " of namespace ml".
func (s *listScreen) of() string {
	if s.what == "" {
		return ""
	}
	return " of " + s.what
}

// empty says that there is nothing to show, and what to do about it.
func (s *listScreen) empty(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	if len(jobs.Items) > 0 {
		return []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "No Job has these words in its namespace, name, status, reason or rule."))}
	}
	lines := []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "A Job that is created appears here by itself."))}
	return append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "Other Jobs: -n NAMESPACE for another namespace, -A for all of them, -l for a label.")), 0)...)
}

// summary is what Jobs these are, how many there are of each kind, those that need a look
// first, and the order.
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
	return s.sorting.Title(p, title, ": ", s.counts(p))
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
		l = append(l, layout.Textf(style, "%s %d %s", mark, n, kind(k)))
	}
	return l
}
