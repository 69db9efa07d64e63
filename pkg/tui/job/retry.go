package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// RetryForm shows what a retry of a failed or stalled Job would run, lets the user choose other indexes, and creates the
// retry after a confirmation. It also runs a CronJob now.
type RetryForm struct {
	job     types.NamespacedName
	focus   snapshot.Focus
	words   retryWords
	retrier screen.Finder
	// found is nil until the Job was read, and after a failed creation, because it may be outdated.
	found *screen.Retryable
	// plan is the Job that enter creates; if it is nil, problem is the reason.
	plan    *screen.RetryPlan
	problem string
	// list is the text with the chosen indexes, and memory is how much more memory the Job gets: "" for no more.
	list, memory string
	// asks is set while the form waits for the confirmation.
	asks bool
	// stop interrupts the creation; it is nil before the creation.
	stop context.CancelFunc
}

var (
	keyCreate  = widget.Bind("enter", "create", "enter")
	keyIndexes = widget.Bind("i", "choose indexes", "i")
	keyMemory  = widget.Bind("m", "more memory", "m")
	keyConfirm = widget.Bind("y", "yes, create", "y")
	keyDecline = widget.Bind("n", "no", "n", "N", "enter")
	// keyReturn goes one step back; if the form does not handle it, the Model does.
	keyReturn = widget.Bind("esc/q", "back", "esc", "q", "backspace")
)

// OpenRetry opens the form for a failed or stalled Job.
func OpenRetry(job types.NamespacedName, retrier screen.Retrier) screen.Action {
	s := &RetryForm{job: job, focus: snapshot.Focus{Job: job}, words: retryWords{"Retry", "Retry of job ", "Reading the Job and its retries"}, retrier: retrier}
	return screen.Action{Open: s, Run: s.find}
}

// OpenRun opens the form that runs a CronJob now.
func OpenRun(cronJob types.NamespacedName, finder screen.Finder) screen.Action {
	s := &RetryForm{job: cronJob, focus: snapshot.Focus{CronJob: cronJob}, words: retryWords{"Run", "Run cronjob ", "Reading the CronJob"}, retrier: finder}
	return screen.Action{Open: s, Run: s.find}
}

// retryWords are the words for a retry, or for a run of a CronJob.
type retryWords struct{ crumb, title, reading string }

// Focus returns the Job, whose map is drawn, or the CronJob.
func (s *RetryForm) Focus() snapshot.Focus { return s.focus }

// Crumb returns the same text for all Jobs.
func (s *RetryForm) Crumb() string { return s.words.crumb }

// Wheel does nothing.
func (s *RetryForm) Wheel(int, *screen.Data) {}

// Keys returns the keys that the form accepts now.
func (s *RetryForm) Keys() []widget.KeyGroup {
	var keys []widget.Binding
	switch {
	case s.stop != nil:
	case s.asks:
		keys = []widget.Binding{keyConfirm, keyDecline}
	default:
		if s.plan != nil {
			keys = append(keys, keyCreate)
		}
		if s.found != nil && s.found.Indexed {
			keys = append(keys, keyIndexes)
		}
		if s.found != nil && s.found.PlanMemory != nil {
			keys = append(keys, keyMemory)
		}
	}
	return []widget.KeyGroup{{Title: s.words.crumb, Bindings: keys}}
}

// Key handles these keys, and esc if it does not close the form.
func (s *RetryForm) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	offered := slices.ContainsFunc(s.Keys()[0].Bindings, func(b widget.Binding) bool { return widget.Matches(k, b) })
	switch returns := widget.Matches(k, keyReturn); {
	case s.stop != nil && returns:
		s.stop()
	case s.asks && (returns || offered && !widget.Matches(k, keyConfirm)):
		s.asks = false
	case !offered:
		return screen.Action{}, false
	case s.asks:
		return s.create(), true
	case widget.Matches(k, keyCreate):
		s.asks = true
	case widget.Matches(k, keyMemory):
		s.raise(cmp.Or(s.memory, firstRaise))
		return screen.Action{Ask: &widget.Question{Label: "--memory ", Text: s.memory, Changed: s.raise}}, true
	default:
		return screen.Action{Ask: &widget.Question{Label: "--indexes ", Text: s.indexes(), Changed: s.choose}}, true
	}
	return screen.Done()
}

// find is a Task that reads the Job.
func (s *RetryForm) find(ctx context.Context) func() screen.Action {
	found, err := s.retrier.Find(ctx, s.job)
	return func() screen.Action {
		if err != nil {
			s.problem = err.Error()
		} else {
			s.found = found
			s.choose("")
		}
		return screen.Action{}
	}
}

// indexes returns the indexes of the plan, or "" if the list is too long to edit.
func (s *RetryForm) indexes() string {
	const longest = 200
	if s.plan == nil || len(s.plan.Indexes.String()) > longest {
		return ""
	}
	return s.plan.Indexes.String()
}

// firstRaise is the raise of memory that the form proposes.
const firstRaise = "x2"

// raise plans the retry with more memory, or with "" with the same.
func (s *RetryForm) raise(memory string) {
	s.memory = memory
	s.choose(s.list)
}

// choose plans a retry of the listed indexes, or with "" of all that are missing.
func (s *RetryForm) choose(list string) {
	s.plan, s.problem, s.list = nil, "", list
	indexes, err := indexset.Parse(list)
	if err != nil {
		s.problem = fmt.Sprintf("--indexes: %v; use numbers and ranges such as 3,7-9", err)
		return
	}
	chosen := &indexes
	if list == "" {
		chosen = nil
	}
	if s.memory == "" {
		s.plan, err = s.found.Plan(chosen)
	} else {
		s.plan, err = s.found.PlanMemory(chosen, s.memory)
	}
	if err != nil {
		s.problem = err.Error()
	}
}

func (s *RetryForm) create() screen.Action {
	stopped, stop := context.WithCancel(context.Background())
	s.asks, s.stop = false, stop
	plan := s.plan
	return screen.Action{Run: func(ctx context.Context) func() screen.Action {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		err := plan.Create(ctx)
		return func() screen.Action { return s.created(plan, err) }
	}}
}

// created opens the new Job, or shows why it could not be created.
func (s *RetryForm) created(plan *screen.RetryPlan, err error) screen.Action {
	s.stop()
	switch {
	case err == nil:
		made := types.NamespacedName{Namespace: s.job.Namespace, Name: plan.Name}
		return screen.Action{Close: true, Open: New(made), Notice: "Created job " + plan.Name + ". " + plan.Summary}
	case errors.Is(err, context.Canceled):
		return screen.Action{Close: true, Notice: "The creation of job " + plan.Name + " was interrupted."}
	}
	s.stop, s.found, s.plan, s.problem = nil, nil, nil, err.Error()
	return screen.Action{}
}

// Body returns the plan, the question or the operation in progress, and the map.
func (s *RetryForm) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	blocks := []widget.Block{{p.Title(s.words.title+s.job.Namespace+"/"+s.job.Name, "")}, s.stateLine(p)}
	if s.plan != nil {
		blocks[0] = append(blocks[0], field("new Job", layout.Text(layout.Bold, s.plan.Name)))
		blocks[0] = append(blocks[0], p.Wrap(field("", layout.Text(layout.Plain, s.plan.Summary)), fieldWidth)...)
		var warnings []layout.Line
		for _, text := range s.warnings() {
			mark := layout.Text(layout.Warn|layout.Bold, p.Glyphs.Warn+" ")
			warnings = append(warnings, p.Wrap(layout.Of(mark, layout.Text(layout.Plain, wording.Sentence(text))), 2)...)
		}
		blocks = append(blocks, warnings)
	}
	if j := d.Open(s.job); j != nil && j.Map != nil {
		marked := *j
		if s.plan != nil {
			m := j.Map.Choose(s.plan.Indexes)
			marked.Map = &m
		}
		room := p.Height - len(widget.Stack(blocks, p.Height)) - 3 // an empty line, the heading and the legend
		blocks = append(blocks, mapBlock(p, &marked, max(1, room)))
	}
	return widget.Stack(blocks, p.Height)
}

// warnings returns the warnings to show before the question.
func (s *RetryForm) warnings() []string {
	if !s.found.Replaces {
		return s.plan.Warnings
	}
	return append([]string{"job " + s.job.Name + " has not finished: once the new Job exists, it is deleted with its pods"}, s.plan.Warnings...)
}

// stateLine returns a question, a problem, or the operation in progress.
func (s *RetryForm) stateLine(p *widget.Paint) []layout.Line {
	style, text := layout.Muted, ""
	switch {
	case s.problem != "":
		style, text = layout.Bad, p.Glyphs.Bad+" "+wording.Sentence(s.problem)
	case s.found == nil:
		text = s.words.reading + p.Glyphs.More
	case s.asks:
		style, text = layout.Accent|layout.Bold, "Create job "+s.plan.Name
		if s.found.Indexed {
			text += ", which runs " + wording.Plural(s.plan.Indexes.Len(), "index", "indexes")
		}
		if s.found.Replaces {
			text += ", and delete job " + s.job.Name
		}
		text += "? y/N"
	case s.stop != nil:
		style, text = layout.Accent, "Creating job "+s.plan.Name+p.Glyphs.More+" esc stops"
	default:
		return nil
	}
	return p.Wrap(layout.Of(layout.Text(style, text)), 2)
}
