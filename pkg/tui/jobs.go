package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// jobsScreen is the list of Jobs.
type jobsScreen struct {
	// what is the set of Jobs in words.
	what    string
	list    list
	filter  filter
	sorting sorting
	// facts are derived once for each list, and rows for each list, filter and order.
	facts jobsFacts
	rows  jobsRows
}

func newJobsScreen(what string) *jobsScreen {
	return &jobsScreen{what: what, sorting: sorting{by: jobOrders()}}
}

func (s *jobsScreen) focus() snapshot.Focus { return snapshot.Focus{} }

func (s *jobsScreen) crumb() string { return "Jobs" }

func (s *jobsScreen) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if q, known := s.filter.handle(k); known {
		return action{ask: q}, true
	}
	if s.sorting.rowKeys(k, &s.list) {
		return none()
	}
	job := s.chosen(d)
	if job == nil {
		return action{}, false
	}
	at := snapshot.JobKey{Namespace: job.Namespace, Name: job.Name}
	switch {
	case matches(k, keyOpen):
		return action{open: newJobScreen(at)}, true
	case matches(k, keyExplain):
		return action{open: newJobScreen(at), explain: at}, true
	case matches(k, keyCopy):
		return action{copy: job.Name}, true
	}
	return action{}, false
}

func (s *jobsScreen) wheel(lines int, _ *data) { s.sorting.wheel(lines, &s.list) }

func (s *jobsScreen) keys() []keyGroup {
	return []keyGroup{{title: "Jobs", bindings: append([]binding{keyOpen, keyExplain}, append(s.filter.keys(), keySort, keyReverse, keyCopy)...)}}
}

// chosen is the Job under the cursor, nil if there is none.
func (s *jobsScreen) chosen(d *data) *explain.Outline {
	jobs := d.snap.Jobs
	if jobs == nil {
		return nil
	}
	s.rows.derive(s, jobs, d.snap.Time)
	if s.list.cursor >= len(s.rows.order) {
		return nil
	}
	return &jobs.Items[s.rows.order[s.list.cursor]]
}

func (s *jobsScreen) body(p *paint, d *data) []layout.Line {
	jobs := d.snap.Jobs
	if jobs == nil {
		return d.waiting(p, "Reading the Jobs"+s.of())
	}
	s.facts.derive(jobs, p)
	s.rows.derive(s, jobs, d.snap.Time)
	lines := s.summary(p, jobs)
	if l := s.filter.line(p, len(s.rows.order), len(jobs.Items), "Jobs"); l != nil {
		lines = append(lines, l)
	}
	if len(s.rows.order) == 0 {
		return append(lines, s.empty(p, jobs)...)
	}
	key := func(row int) string {
		job := &jobs.Items[s.rows.order[row]]
		return job.Namespace + "/" + job.Name
	}
	s.list.resize(len(s.rows.order), p.height-len(lines)-1, key)
	first, end := rows(len(s.rows.order), s.list.top, s.list.height)
	return append(lines, s.table(p, jobs, first, end)...)
}

// of is " of namespace ml".
func (s *jobsScreen) of() string {
	if s.what == "" {
		return ""
	}
	return " of " + s.what
}

// empty says that there is nothing to show, and what to do about it.
func (s *jobsScreen) empty(p *paint, jobs *snapshot.Jobs) []layout.Line {
	if len(jobs.Items) > 0 {
		return []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "No Job has these words in its namespace, name, status, reason or rule."))}
	}
	lines := []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "A Job that is created appears here by itself."))}
	return append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "Other Jobs: -n NAMESPACE for another namespace, -A for all of them, -l for a label.")), 0)...)
}

// summary is what Jobs these are, how many there are of each kind, those that need a look
// first, and the order.
func (s *jobsScreen) summary(p *paint, jobs *snapshot.Jobs) []layout.Line {
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
	return s.sorting.titled(p, title, ": ", s.counts(p))
}

// counts are how many Jobs there are of each kind.
func (s *jobsScreen) counts(p *paint) layout.Line {
	counts := s.facts.counts
	counts[jobRuns] += counts[jobTroubled]
	counts[jobTroubled] = 0
	var l layout.Line
	for kind, n := range counts {
		if n == 0 {
			continue
		}
		mark, style := jobKind(kind).look(p)
		l = append(l, layout.Textf(style, "%s %d %s", mark, n, jobKind(kind)))
	}
	return l
}
