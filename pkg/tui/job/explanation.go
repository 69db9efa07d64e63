package job

import (
	"slices"
	"strings"
	"time"

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

var (
	keyNextCommand = widget.Bind("tab/n", "next command", "tab", "n")
	keyPrevCommand = widget.Bind("shift+tab/N", "previous command", "shift+tab", "N")
	keyCopyCommand = widget.Bind("y", "copy the command", "y")
	keyFull        = widget.Bind("a", "all details", "a")
)

// explanation shows the output of why, or of why --full. The user can choose one of its commands to copy it.
type explanation struct {
	job    types.NamespacedName
	scroll widget.Scroll
	full   bool
	// command is the chosen command, as an index into commands, which are the lines with commands.
	command  int
	commands []int
	// drawn holds the input that lines were made from.
	drawn struct {
		report *explain.Report
		width  int
		full   bool
	}
	lines []layout.Line
}

// NewExplanation returns a screen that explains a Job as why does.
func NewExplanation(job types.NamespacedName) screen.Screen { return &explanation{job: job} }

func (s *explanation) Focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

func (s *explanation) Crumb() string { return "Explain" }

func (s *explanation) Key(k tea.KeyPressMsg, _ *screen.Data) (screen.Action, bool) {
	switch {
	case s.scroll.Key(k):
	case widget.Matches(k, keyNextCommand):
		s.choose(s.command + 1)
	case widget.Matches(k, keyPrevCommand):
		s.choose(s.command - 1)
	case widget.Matches(k, keyFull):
		s.full = !s.full
	case widget.Matches(k, keyCopyCommand):
		if len(s.commands) == 0 {
			return screen.Action{Notice: "there is no command to copy"}, true
		}
		return screen.Action{Copy: s.chosen()}, true
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

// choose chooses the n-th command, and scrolls to it.
func (s *explanation) choose(n int) {
	if len(s.commands) == 0 {
		return
	}
	s.command = (n + len(s.commands)) % len(s.commands)
	s.scroll.Reveal(s.commands[s.command])
}

// chosen returns the chosen command without its prompt.
func (s *explanation) chosen() string {
	var b strings.Builder
	for _, span := range s.lines[s.commands[s.command]] {
		if span.Style() == layout.Accent {
			b.WriteString(span.String())
		}
	}
	return b.String()
}

func (s *explanation) Wheel(lines int, _ *screen.Data) { s.scroll.Move(lines) }

func (s *explanation) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{
		{Title: "Explanation", Bindings: []widget.Binding{keyCopyCommand, keyNextCommand, keyFull}},
		{Bindings: []widget.Binding{keyPrevCommand}, HelpOnly: true},
	}
}

func (s *explanation) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Open(s.job)
	if j == nil {
		return d.Waiting(p, "Reading job "+s.job.Namespace+"/"+s.job.Name)
	}
	s.draw(p, j)
	out := make([]layout.Line, 0, len(s.lines))
	for i, l := range s.lines {
		if len(s.commands) > 0 && i == s.commands[s.command] {
			l = append(l[:1:1], l[1:].With(layout.Reverse)...) // all but the indentation
		}
		out = append(out, l)
	}
	return s.scroll.Page(p, out)
}

// draw makes the lines, unless they are up to date.
func (s *explanation) draw(p *widget.Paint, j *screen.Job) {
	if s.drawn.report == j.Report && s.drawn.width == p.Width && s.drawn.full == s.full {
		return
	}
	s.drawn.report, s.drawn.width, s.drawn.full = j.Report, p.Width, s.full
	if s.full {
		s.lines = text.ExplanationLines(*j.Report, textOptions(p))
	} else {
		s.lines = Answer(p, j, nil, keyFull)
	}
	s.commands = s.commands[:0]
	for i, l := range s.lines {
		if isCommand(l) {
			s.commands = append(s.commands, i)
		}
	}
	s.command = max(0, min(s.command, len(s.commands)-1))
}

func textOptions(p *widget.Paint) text.Options {
	return text.Options{Width: p.Width, ASCII: p.ASCII, Full: true, Location: p.Location, Namespace: p.Namespace}
}

// Answer returns the explanation as why prints it, below a warning if the Job is gone, or if the API server had stopped
// responding. keys show all details in the view; without keys, the command is named.
func Answer(p *widget.Paint, j *screen.Job, staleSince *time.Time, keys ...widget.Binding) []layout.Line {
	var lines []layout.Line
	report := *j.Report
	report.ObservedAt = metav1.NewTime(p.Now) // as in the header
	switch {
	case j.Gone && report.Job.UID == "":
		return p.Wrap(layout.Of(layout.Text(layout.Bold, "The Job "+j.GoneWords(p)+".")), 0)
	case j.Gone:
		report.Next = nil
		gone := j.GoneWords(p)
		if strings.HasPrefix(gone, "deleted") {
			gone = "was " + gone
		}
		lines = p.Wrap(layout.Of(layout.Text(layout.Bold, "The Job "+gone+". Its last known state:")), 0)
		lines = append(lines, nil)
	case staleSince != nil:
		lines = p.Wrap(layout.Of(layout.Text(layout.Bold, "The API server has not answered since "+p.Clock(*staleSince)+". The last known state:")), 0)
		lines = append(lines, nil)
	}
	options := textOptions(p)
	options.Full = false
	for i, key := range keys {
		options.Again += []string{"key ", ", then "}[min(i, 1)] + key.Help().Key
	}
	return append(lines, text.ShortLines(report, options)...)
}

// isCommand reports whether a line has the form "$ command".
func isCommand(l layout.Line) bool {
	at := slices.IndexFunc(l, func(s layout.Span) bool { return strings.TrimSpace(s.String()) != "" })
	return at >= 0 && at+1 < len(l) && l[at].String() == "$ " && l[at+1].Style() == layout.Accent
}
