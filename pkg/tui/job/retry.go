package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// retryForm shows what a retry of a failed Job would run, lets the user choose other indexes, and creates it once that is
// confirmed.
type retryForm struct {
	job     snapshot.JobKey
	retrier screen.Retrier
	step    retryStep
	// found is nil until the Job was read, input for a NonIndexed Job.
	found screen.Retryable
	input *widget.Prompt
	// failedOnly reports whether the plan leaves out indexes that never ran.
	failedOnly bool
	// plan is what enter creates, nil for nothing; then problem is why.
	plan    *screen.RetryPlan
	problem string
	// stop interrupts the creation.
	stop context.CancelFunc
}

// retryStep is what the form does.
type retryStep int

const (
	retryReads retryStep = iota
	retryChooses
	retryConfirms
	retryCreates
	// retryFailed is after a request that failed; what was read may be outdated.
	retryFailed
)

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyIndexes    = widget.Bind("0-9 , -", "indexes", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ",", "-")
	keyFailedOnly = widget.Bind("f", "failed only/all missing", "f")
	keyCreate     = widget.Bind("enter", "create", "enter")
	keyConfirm    = widget.Bind("y", "yes, create", "y")
	keyDecline    = widget.Bind("n", "no", "n", "N", "enter")
	keyAgain      = widget.Bind("enter", "try again", "enter")
	// keyEdit and keyReturn are in no help: all input lines have the first, and the second is the way back.
	keyEdit   = widget.Bind("", "", "backspace", "delete", "left", "right", "home", "end", "ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+w")
	keyReturn = widget.Bind("", "", "esc", "q", "backspace")
)

// OpenRetry opens the form for a failed Job.
func OpenRetry(job snapshot.JobKey, retrier screen.Retrier) screen.Action {
	s := &retryForm{job: job, retrier: retrier}
	return screen.Action{Open: s, Run: s.find}
}

func (s *retryForm) Focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

func (s *retryForm) Crumb() string { return "Retry" }

func (s *retryForm) Wheel(int, *screen.Data) {}

func (s *retryForm) Keys() []widget.KeyGroup {
	group := widget.KeyGroup{Title: "Retry"}
	switch s.step {
	case retryChooses:
		if s.plan != nil {
			group.Bindings = []widget.Binding{keyCreate}
		}
		if s.input != nil {
			group.Bindings = append(group.Bindings, keyIndexes, keyFailedOnly)
		}
	case retryConfirms:
		group.Bindings = []widget.Binding{keyConfirm, keyDecline}
	case retryFailed:
		group.Bindings = []widget.Binding{keyAgain}
	}
	return []widget.KeyGroup{group}
}

func (s *retryForm) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	switch s.step {
	case retryChooses:
		return s.choose(k)
	case retryConfirms:
		return s.confirm(k)
	case retryCreates:
		if widget.Matches(k, keyReturn) {
			s.stop()
			return screen.Done()
		}
	case retryFailed:
		if widget.Matches(k, keyAgain) {
			s.step, s.problem = retryReads, ""
			return screen.Action{Run: s.find}, true
		}
	}
	return screen.Action{}, false
}

// find reads the Job. It is a Task.
func (s *retryForm) find(ctx context.Context) func() screen.Action {
	found, err := s.retrier.Find(ctx, s.job)
	return func() screen.Action {
		if err != nil {
			s.step, s.problem = retryFailed, err.Error()
			return screen.Action{}
		}
		s.step, s.found = retryChooses, found
		s.take(found.Plan(nil))
		s.fill()
		return screen.Action{}
	}
}

// take keeps a plan, or why there is none.
func (s *retryForm) take(plan *screen.RetryPlan, err error) {
	s.plan, s.problem = plan, ""
	if err != nil {
		s.plan, s.problem = nil, err.Error()
	}
}

// fill writes the indexes of the plan into the input line.
func (s *retryForm) fill() {
	if !s.found.IsIndexed() {
		return
	}
	text := ""
	if s.plan != nil {
		text = s.plan.Indexes.String()
	}
	s.input = widget.NewPrompt(&widget.Question{Label: fmt.Sprintf("%-*s", fieldWidth, "--indexes"), Text: text, Changed: s.typed})
}

func (s *retryForm) choose(k tea.KeyPressMsg) (screen.Action, bool) {
	switch {
	case widget.Matches(k, keyCreate) && s.plan != nil:
		s.step = retryConfirms
	case widget.Matches(k, keyCreate): // The problem is on the screen.
	case s.input == nil:
		return screen.Action{}, false
	case widget.Matches(k, keyFailedOnly):
		return s.toggleFailedOnly(), true
	case widget.Matches(k, keyIndexes), widget.Matches(k, keyEdit):
		s.input.Key(k)
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

// Paste adds to the input line.
func (s *retryForm) Paste(text string) {
	if s.step == retryChooses && s.input != nil {
		s.input.Insert(strings.ReplaceAll(text, " ", ""))
	}
}

// typed plans what the input line has.
func (s *retryForm) typed(text string) {
	s.failedOnly = false
	indexes, err := indexset.Parse(text)
	if err != nil {
		s.take(nil, fmt.Errorf("--indexes: %w; use numbers and ranges such as 3,7-9", err))
		return
	}
	s.take(s.found.Plan(&indexes))
}

// toggleFailedOnly leaves out the indexes that never ran, which has to be read, or brings them back.
func (s *retryForm) toggleFailedOnly() screen.Action {
	if s.failedOnly {
		s.failedOnly = false
		s.take(s.found.Plan(nil))
		s.fill()
		return screen.Action{}
	}
	s.step = retryReads
	return screen.Action{Run: func(ctx context.Context) func() screen.Action {
		plan, err := s.found.PlanFailedOnly(ctx)
		return func() screen.Action {
			s.step, s.failedOnly = retryChooses, true
			s.take(plan, err)
			s.fill()
			return screen.Action{}
		}
	}}
}

func (s *retryForm) confirm(k tea.KeyPressMsg) (screen.Action, bool) {
	switch {
	case widget.Matches(k, keyConfirm):
		return s.create(), true
	case widget.Matches(k, keyDecline), widget.Matches(k, keyReturn):
		s.step = retryChooses
		return screen.Done()
	}
	return screen.Action{}, false
}

func (s *retryForm) create() screen.Action {
	stopped, stop := context.WithCancel(context.Background())
	s.step, s.stop = retryCreates, stop
	plan := s.plan
	return screen.Action{Run: func(ctx context.Context) func() screen.Action {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		err := plan.Create(ctx)
		return func() screen.Action { return s.created(plan, err) }
	}}
}

// created goes to the new Job, or shows why there is none.
func (s *retryForm) created(plan *screen.RetryPlan, err error) screen.Action {
	s.stop()
	switch {
	case err == nil:
		made := snapshot.JobKey{Namespace: s.job.Namespace, Name: plan.Name}
		return screen.Action{Close: true, Open: New(made), Notice: "Created job " + plan.Name + ". " + plan.Summary}
	case errors.Is(err, context.Canceled):
		return screen.Action{Close: true, Notice: "The creation of job " + plan.Name + " was interrupted."}
	}
	s.step, s.problem, s.plan = retryFailed, err.Error(), nil
	return screen.Action{}
}
