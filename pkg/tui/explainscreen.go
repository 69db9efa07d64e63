package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyNextCommand = bind("tab/n", "next command", "tab", "n")
	keyPrevCommand = bind("shift+tab/N", "previous command", "shift+tab", "N")
	keyCopyCommand = bind("y", "copy the command", "y")
	keyFull        = bind("a", "all of long lists", "a")
)

// explainScreen is the explanation of a Job, as explain-failure prints it. One of the
// commands in it is chosen, to be copied.
type explainScreen struct {
	job    snapshot.JobKey
	scroll scroll
	full   bool
	// command is the chosen one, of those on the lines at commands.
	command  int
	commands []int
	// drawn is what the lines were made of.
	drawn struct {
		report *explain.Report
		width  int
		full   bool
	}
	lines []layout.Line
}

func newExplainScreen(job snapshot.JobKey) *explainScreen { return &explainScreen{job: job} }

func (s *explainScreen) focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

func (s *explainScreen) crumb() string { return "Explain" }

func (s *explainScreen) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	switch {
	case s.scroll.handle(k):
	case matches(k, keyNextCommand):
		s.choose(s.command + 1)
	case matches(k, keyPrevCommand):
		s.choose(s.command - 1)
	case matches(k, keyFull):
		s.full = !s.full
	case matches(k, keyCopyCommand):
		if len(s.commands) == 0 {
			return action{say: "there is no command to copy"}, true
		}
		return action{copy: s.chosen()}, true
	default:
		return action{}, false
	}
	return none()
}

// choose takes another command, and brings it onto the screen.
func (s *explainScreen) choose(n int) {
	if len(s.commands) == 0 {
		return
	}
	s.command = (n + len(s.commands)) % len(s.commands)
	if at := s.commands[s.command]; at < s.scroll.top || at >= s.scroll.top+s.scroll.height {
		s.scroll.top = at - s.scroll.height/2
		s.scroll.move(0)
	}
}

// chosen is the command without its prompt.
func (s *explainScreen) chosen() string {
	var b strings.Builder
	for _, span := range s.lines[s.commands[s.command]] {
		if span.Style() == layout.Accent {
			b.WriteString(span.String())
		}
	}
	return b.String()
}

func (s *explainScreen) wheel(lines int, _ *data) { s.scroll.move(lines) }

func (s *explainScreen) keys() []keyGroup {
	return []keyGroup{
		{title: "Explanation", bindings: []binding{keyCopyCommand, keyNextCommand, keyFull}},
		{bindings: []binding{keyPrevCommand}, helpOnly: true},
	}
}

func (s *explainScreen) body(p *paint, d *data) []layout.Line {
	j := d.open(s.job)
	if j == nil {
		return d.waiting(p, "Reading job "+s.job.Namespace+"/"+s.job.Name)
	}
	s.draw(p, j)
	out := make([]layout.Line, 0, len(s.lines))
	for i, l := range s.lines {
		if len(s.commands) > 0 && i == s.commands[s.command] {
			l = append(l[:1:1], l[1:].With(layout.Reverse)...) // but for the indent
		}
		out = append(out, l)
	}
	return s.scroll.page(p, out)
}

// draw makes the lines, unless they are there.
func (s *explainScreen) draw(p *paint, j *jobData) {
	if s.drawn.report == j.Report && s.drawn.width == p.Width && s.drawn.full == s.full {
		return
	}
	s.drawn.report, s.drawn.width, s.drawn.full = j.Report, p.Width, s.full
	s.lines = text.ExplanationLines(*j.Report, text.Options{Width: p.Width, ASCII: p.ASCII, Full: s.full, Location: p.Location})
	s.commands = s.commands[:0]
	for i, l := range s.lines {
		if isCommand(l) {
			s.commands = append(s.commands, i)
		}
	}
	s.command = max(0, min(s.command, len(s.commands)-1))
}

// isCommand says that a line is "$ command", of a prompt and a command.
func isCommand(l layout.Line) bool {
	at := slices.IndexFunc(l, func(s layout.Span) bool { return strings.TrimSpace(s.String()) != "" })
	return at >= 0 && at+1 < len(l) && l[at].String() == "$ " && l[at+1].Style() == layout.Accent
}
