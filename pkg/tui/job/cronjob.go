package job

import (
	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// CronJob shows a CronJob as status does, with a cursor on its runs.
type CronJob struct {
	key    types.NamespacedName
	list   widget.List // of the runs
	scroll widget.Scroll
	// moved is set once a key has moved the cursor; until then, the page is shown from its beginning.
	moved bool
}

// NewCronJob returns the screen of a CronJob.
func NewCronJob(cronJob types.NamespacedName) *CronJob { return &CronJob{key: cronJob} }

// Name returns the name of the CronJob.
func (s *CronJob) Name() types.NamespacedName { return s.key }

// Focus returns the CronJob.
func (s *CronJob) Focus() snapshot.Focus { return snapshot.Focus{CronJob: s.key} }

// Crumb returns the kind and the name, as in commands.
func (s *CronJob) Crumb() string { return "cronjob/" + s.key.Name }

// Wheel scrolls the page.
func (s *CronJob) Wheel(lines int, _ *screen.Data) {
	s.moved = false
	s.scroll.Move(lines)
}

// Keys returns the keys for the run under the cursor.
func (s *CronJob) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "CronJob", Bindings: []widget.Binding{widget.KeyOpen, widget.KeyExplain, widget.KeyCopy}}}
}

// Key moves the cursor, and opens the Job of the run under it.
func (s *CronJob) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if s.list.Key(k) {
		s.moved = true
		return screen.Done()
	}
	run := s.chosen(d)
	opens, explains := widget.Matches(k, widget.KeyOpen), widget.Matches(k, widget.KeyExplain)
	switch {
	case run == nil || !opens && !explains && !widget.Matches(k, widget.KeyCopy):
		return screen.Action{}, false
	case !opens && !explains:
		return screen.Action{Copy: run.Name}, true
	case run.Removed:
		return screen.Action{Notice: "job " + run.Name + " no longer exists"}, true
	}
	at := types.NamespacedName{Namespace: s.key.Namespace, Name: run.Name}
	if explains {
		return screen.Action{Open: New(at), Explain: at}, true
	}
	return screen.Action{Open: New(at)}, true
}

// chosen returns the run under the cursor, nil if there is none.
func (s *CronJob) chosen(d *screen.Data) *explain.OwnedRun {
	if r := s.report(d); r != nil && s.list.Cursor < len(r.Runs) {
		return &r.Runs[s.list.Cursor]
	}
	return nil
}

// report returns the report on the CronJob, nil until it was read.
func (s *CronJob) report(d *screen.Data) *explain.CronJobReport {
	if d.Snap.Focus.CronJob != s.key {
		return nil
	}
	return d.Snap.CronJob
}

// Body returns the page, with the chosen run marked.
func (s *CronJob) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	r := s.report(d)
	if r == nil {
		return d.Waiting(p, "Reading cronjob "+s.key.Namespace+"/"+s.key.Name)
	}
	now := *r
	now.ObservedAt = metav1.NewTime(p.Now)
	options := textOptions(p)
	options.Absolute = p.Absolute
	lines, first := text.CronJobLines(&now, options)
	s.list.Resize(len(r.Runs), p.Height, func(i int) string { return r.Runs[i].Name })
	if at := first + s.list.Cursor; len(r.Runs) > 0 && at < len(lines) {
		lines[at] = lines[at].With(layout.Reverse)
		if s.moved {
			s.scroll.Resize(len(lines), p.Height)
			s.scroll.Reveal(at)
		}
	}
	return s.scroll.Page(p, lines)
}
