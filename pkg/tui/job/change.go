package job

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ChangeForm asks whether to suspend, resume or delete a Job, and does so after the confirmation.
type ChangeForm struct {
	change  screen.Change
	job     types.NamespacedName
	uid     string
	changer screen.Changer
	// allowed is set when the API server has confirmed the user's permission.
	allowed bool
	// runs is set after the confirmation.
	runs    bool
	problem string
}

// changeWords are the words for a change.
type changeWords struct{ verb, progress, done, effect string }

func wordsFor(c screen.Change) changeWords {
	return [...]changeWords{
		screen.Suspend: {"Suspend", "Suspending", "suspended", "Its pods that run are deleted, and start again once it is resumed."},
		screen.Resume:  {"Resume", "Resuming", "resumed", "Its pods are created, and its activeDeadlineSeconds begins anew."},
		screen.Delete:  {"Delete", "Deleting", "deleted", "Its pods are deleted too, and with them their logs."},
	}[c]
}

var keyYes = widget.Bind("y", "yes", "y")

// OpenChange opens the form for the Job with this UID.
func OpenChange(change screen.Change, job types.NamespacedName, uid string, changer screen.Changer) screen.Action {
	s := &ChangeForm{change: change, job: job, uid: uid, changer: changer}
	return screen.Action{Open: s, Run: s.askPermission}
}

// Focus returns the Job.
func (s *ChangeForm) Focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

// Crumb returns the verb of the change.
func (s *ChangeForm) Crumb() string { return wordsFor(s.change).verb }

// Wheel does nothing.
func (s *ChangeForm) Wheel(int, *screen.Data) {}

// asks reports whether the form waits for an answer.
func (s *ChangeForm) asks() bool { return s.allowed && !s.runs && s.problem == "" }

// Keys returns the keys for the answers.
func (s *ChangeForm) Keys() []widget.KeyGroup {
	if !s.asks() {
		return nil
	}
	return []widget.KeyGroup{{Title: s.Crumb(), Bindings: []widget.Binding{keyYes, keyDecline}}}
}

// Key handles the answers.
func (s *ChangeForm) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	switch {
	case !s.asks():
		return screen.Action{}, false
	case widget.Matches(k, keyYes):
		s.runs = true
		return screen.Action{Run: s.apply}, true
	case widget.Matches(k, keyDecline):
		return screen.Action{Close: true}, true
	}
	return screen.Action{}, false
}

// askPermission is a Task that checks the permission.
func (s *ChangeForm) askPermission(ctx context.Context) func() screen.Action {
	allowed := s.changer.IsAllowed(ctx, s.change, s.job.Namespace)
	return func() screen.Action {
		s.allowed = allowed
		if !allowed {
			s.problem = "you have no permission to do this in namespace " + s.job.Namespace
		}
		return screen.Action{}
	}
}

// apply is a Task that makes the change.
func (s *ChangeForm) apply(ctx context.Context) func() screen.Action {
	err := s.changer.Apply(ctx, s.change, s.job, s.uid)
	return func() screen.Action {
		notice := "job " + s.job.Name + " " + wordsFor(s.change).done
		if err != nil {
			s.runs, s.problem = false, err.Error()
			return screen.Action{}
		}
		return screen.Action{Leave: s, Notice: notice}
	}
}

// Body returns the question, and the state of the Job.
func (s *ChangeForm) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	words := wordsFor(s.change)
	blocks := []widget.Block{{p.Title(words.verb+" job "+s.job.Namespace+"/"+s.job.Name, "")}, s.stateLine(p, words)}
	blocks[0] = append(blocks[0], p.Wrap(layout.Plainly(words.effect), 0)...)
	if j := d.Open(s.job); j != nil {
		blocks = append(blocks, append(header(p, j), p.Wrap(layout.Of(layout.Text(layout.Bold, j.Verdict.Sentence)), 0)...))
	}
	return widget.Stack(blocks, p.Height)
}

// stateLine returns the question, a problem, or the operation in progress.
func (s *ChangeForm) stateLine(p *widget.Paint, words changeWords) []layout.Line {
	style, text := layout.Accent|layout.Bold, words.verb+" job "+s.job.Name+"? y/N"
	switch {
	case s.problem != "":
		style, text = layout.Bad, p.Glyphs.Bad+" "+wording.Sentence(s.problem)
	case s.runs:
		style, text = layout.Accent, words.progress+" job "+s.job.Name+p.Glyphs.More
	case !s.allowed:
		style, text = layout.Muted, "Asking whether you may do this"+p.Glyphs.More
	}
	return p.Wrap(layout.Of(layout.Text(style, text)), 2)
}
