// Package joblist implements the screen that lists Jobs: those that need attention first, each with its status, progress and
// reason.
package joblist

import (
	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// listScreen is the list of Jobs.
type listScreen struct {
	o     Options
	table widget.Table[explain.Outline]
	// preview is the Job shown beside or below the list, zero for none.
	preview types.NamespacedName
	// stats and fold are computed once for each list.
	stats stats
	fold  fold
	// unfolded shows all Jobs of a family as separate rows.
	unfolded bool
	// byOwner folds the Jobs of a CronJob into one row.
	byOwner bool
}

// Options configure a list.
type Options struct {
	// What describes the set of Jobs, such as "namespace ml".
	What string
	// Select is the Job initially under the cursor; zero for the first one.
	Select types.NamespacedName
	// Recorded is set if the Snapshots are from a recording, which can only preview the recorded Job.
	Recorded bool
}

// New returns a screen that lists the Jobs of a Snapshot.
func New(o Options) screen.Screen {
	s := &listScreen{o: o}
	s.table = widget.NewTable(s.keyOf, s.columns(&widget.Paint{}))
	s.table.KeepFor = resortEvery
	if o.Select.Name != "" {
		s.table.Select(s.keyOf(&explain.Outline{Namespace: o.Select.Namespace, Name: o.Select.Name}))
	}
	return s
}

// keyOf returns the key of the row of a Job, or of its CronJob.
func (s *listScreen) keyOf(o *explain.Outline) string {
	if s.byOwner && cronjob.IsOwner(o.Owner) {
		return o.Namespace + "/cronjob/" + o.Owner.Name
	}
	return o.Namespace + "/" + o.Name
}

func (s *listScreen) Focus() snapshot.Focus {
	return snapshot.Focus{Job: s.preview, Preview: s.preview.Name != ""}
}

func (s *listScreen) Crumb() string { return "Jobs" }

func (s *listScreen) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if q, known := s.table.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	switch {
	case widget.Matches(k, keyFold):
		s.unfolded = !s.unfolded
		return s.refold(map[bool]string{true: "all Jobs", false: "retries are folded under their Job"}[s.unfolded])
	case widget.Matches(k, keyByOwner):
		s.byOwner = !s.byOwner
		return s.refold(map[bool]string{true: "CronJobs are folded", false: "CronJobs are unfolded"}[s.byOwner])
	}
	chosen, cronJob := s.Chosen(d), s.chosenCronJob()
	switch {
	case chosen != nil:
	case cronJob == nil:
		return screen.Action{}, false
	case widget.Matches(k, widget.KeyOpen), widget.Matches(k, widget.KeyExplain): // Its page explains it.
		return screen.Action{Open: job.NewCronJob(cronJob.name)}, true
	case widget.Matches(k, widget.KeyCopy):
		return screen.Action{Copy: cronJob.name.Name}, true
	default:
		return screen.Action{}, false
	}
	at := types.NamespacedName{Namespace: chosen.Namespace, Name: chosen.Name}
	switch {
	case widget.Matches(k, widget.KeyOpen):
		return screen.Action{Open: job.New(at)}, true
	case widget.Matches(k, widget.KeyExplain):
		return screen.Action{Open: job.New(at), Explain: at}, true
	case widget.Matches(k, widget.KeyLogs):
		return screen.Action{Open: pods.NewLogs(at)}, true
	case widget.Matches(k, widget.KeyCopy):
		return screen.Action{Copy: chosen.Name}, true
	}
	return screen.Action{}, false
}

// refold has the list drawn anew, with the cursor on the row that the Job under it has now.
func (s *listScreen) refold(notice string) (screen.Action, bool) {
	if row := s.table.Chosen(); row != nil {
		s.table.Select(s.keyOf(row))
	}
	s.fold.of, s.stats.of = nil, nil
	s.table.Reset()
	return screen.Action{Notice: notice}, true
}

func (s *listScreen) Wheel(lines int, _ *screen.Data) { s.table.Wheel(lines) }

func (s *listScreen) Keys() []widget.KeyGroup {
	ofRow := []widget.Binding{widget.KeyOpen, widget.KeyExplain, widget.KeyLogs}
	if s.chosenCronJob() != nil { // It has no logs.
		ofRow = ofRow[:2]
	}
	return []widget.KeyGroup{
		{Title: "Jobs", Bindings: s.table.Keys(ofRow...)},
		{Bindings: []widget.Binding{keyFold, keyByOwner}, HelpOnly: true},
	}
}

// chosenCronJob returns the CronJob under the cursor, nil if a Job or nothing is there.
func (s *listScreen) chosenCronJob() *cronJob {
	if row := s.table.Chosen(); row != nil {
		return s.cronJobOf(row)
	}
	return nil
}

// Chosen returns the Job under the cursor, or nil if there is none, or a CronJob.
func (s *listScreen) Chosen(d *screen.Data) *explain.Outline {
	jobs := d.Snap.Jobs
	if jobs == nil {
		return nil
	}
	s.arrange(jobs, d.Snap.AsOf())
	if o := s.table.Chosen(); o != nil && s.cronJobOf(o) == nil {
		return o
	}
	return nil
}

func (s *listScreen) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	switch {
	case d.Snap.Jobs != nil:
		return s.withPreview(p, d)
	case s.o.What == "":
		return d.Waiting(p, "Reading the Jobs")
	}
	return d.Waiting(p, "Reading the Jobs of "+s.o.What)
}

// list returns the list without the preview.
func (s *listScreen) list(p *widget.Paint, d *screen.Data) []layout.Line {
	jobs := d.Snap.Jobs
	s.arrange(jobs, d.Snap.AsOf())
	s.stats.derive(jobs, p, s.isHidden, func(o *explain.Outline) int { return s.nameCell(p, o).Width() })
	lines := s.summary(p, jobs)
	what := "Jobs"
	if s.byOwner {
		what = "rows"
	}
	if l := s.table.Filter.Line(p, s.table.Len(), s.rows(jobs), what); l != nil {
		lines = append(lines, l)
	}
	if s.table.Len() == 0 {
		return append(lines, s.empty(p, jobs)...)
	}
	return append(lines, s.table.Lines(p.Sized(p.Width, p.Height-len(lines)), s.columns(p))...)
}

// shown returns the number of Jobs that have a row if no filter is set.
func (s *listScreen) shown(jobs *snapshot.Jobs) int {
	if s.unfolded {
		return len(jobs.Items)
	}
	return len(jobs.Items) - len(s.fold.hidden)
}

// rows returns the number of rows if no filter is set.
func (s *listScreen) rows(jobs *snapshot.Jobs) int {
	n := s.shown(jobs)
	for _, c := range s.fold.cronJobs {
		n -= len(c.jobs) - 1
	}
	return n
}

// empty says why the list is empty, and what the user can do.
func (s *listScreen) empty(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	if len(jobs.Items) > 0 {
		return []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "No Job has these words in its namespace, name, status, reason or rule."))}
	}
	lines := []layout.Line{nil, layout.Of(layout.Text(layout.Plain, "New Jobs appear here."))}
	return append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "Other Jobs: -n NAMESPACE for another namespace, -A for all of them, -l for a label.")), 0)...)
}

// summary returns the number of Jobs of each kind, starting with those that need attention, and the sort order.
func (s *listScreen) summary(p *widget.Paint, jobs *snapshot.Jobs) []layout.Line {
	title := layout.Of(layout.Text(layout.Bold, wording.Plural(s.shown(jobs), "Job", "Jobs")))
	if n := len(jobs.Items) - s.shown(jobs); n > 0 {
		title = append(title, layout.Text(layout.Muted, " (and "+wording.Plural(n, "earlier attempt", "earlier attempts")+")"))
	}
	if len(jobs.Items) == 0 {
		title = layout.Of(layout.Text(layout.Bold, "No Jobs"))
	}
	if s.o.What != "" {
		title = append(title, layout.Text(layout.Muted, " in "), layout.Text(layout.Plain, s.o.What))
	}
	if len(jobs.Items) == 0 {
		return []layout.Line{p.Cut(title, p.Width)}
	}
	lines := s.table.Title(p, title, ": ", s.counts(p))
	if len(jobs.Gaps) > 0 {
		// Without that data, stalled Jobs look as if they were running.
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, section.MissedStalls(jobs.Gaps))), 0)...)
	}
	return lines
}

// counts returns the number of Jobs of each kind.
func (s *listScreen) counts(p *widget.Paint) layout.Line { return countsOf(p, s.stats.counts, true) }

// countsOf returns the number of Jobs of each kind, behind its mark, or also with its name.
func countsOf(p *widget.Paint, counts [kinds]int, named bool) layout.Line {
	counts[running] += counts[runningWithFailures]
	counts[runningWithFailures] = 0
	var l layout.Line
	for k, n := range counts {
		if n == 0 {
			continue
		}
		mark, style := kind(k).look(p)
		if named {
			l = append(l, layout.Text(style, mark+" "+wording.Count(n, kind(k).String())))
		} else {
			l = append(l, layout.Text(style, mark+" "+wording.Thousands(n)+" "))
		}
	}
	return l
}
