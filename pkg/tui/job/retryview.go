package job

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// maxWarnings is how many lines the warnings have at most.
const maxWarnings = 6

func (s *retryForm) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	blocks := []widget.Block{widget.Titled(p.Title("Retry of job "+s.job.Namespace+"/"+s.job.Name, ""), s.planLines(p))}
	blocks = append(blocks, s.stepLines(p), s.warnings(p))
	if j := d.Open(s.job); j != nil && j.Map != nil {
		chosen := *j
		if s.plan != nil {
			m := j.Map.Choose(s.plan.Indexes)
			chosen.Map = &m
		}
		room := p.Height - len(widget.Stack(blocks, p.Height)) - 3 // an empty line, the heading and the legend
		blocks = append(blocks, mapBlock(p, &chosen, max(1, room)))
	}
	return widget.Stack(blocks, p.Height)
}

// planLines are what would be created, and the input line.
func (s *retryForm) planLines(p *widget.Paint) []layout.Line {
	var lines []layout.Line
	if s.plan != nil {
		lines = append(lines, field("new Job", layout.Text(layout.Bold, s.plan.Name)))
		lines = append(lines, p.Wrap(field("", layout.Text(layout.Plain, s.plan.Summary)), fieldWidth)...)
	}
	switch {
	case s.input == nil:
	case s.step == retryChooses:
		lines = append(lines, s.input.Line(p.Width, p.Glyphs.Ellipsis))
	default:
		lines = append(lines, p.Cut(field("--indexes", layout.Text(layout.Plain, s.input.Value())), p.Width))
	}
	return lines
}

// stepLines are a question, a problem, or what the form waits for.
func (s *retryForm) stepLines(p *widget.Paint) []layout.Line {
	switch {
	case s.problem != "":
		return p.Wrap(layout.Of(layout.Text(layout.Bad, p.Glyphs.Bad+" "+wording.Sentence(s.problem))), 2)
	case s.step == retryReads && s.found == nil:
		return []layout.Line{layout.Of(layout.Text(layout.Muted, "Reading the Job and its retries"+p.Glyphs.More))}
	case s.step == retryReads:
		return []layout.Line{layout.Of(layout.Text(layout.Muted, "Reading which indexes ran"+p.Glyphs.More))}
	case s.step == retryConfirms:
		return p.Wrap(layout.Of(layout.Text(layout.Accent|layout.Bold, "Create job "+s.plan.Name+s.runs()+"? y/N")), 0)
	case s.step == retryCreates:
		return []layout.Line{layout.Of(layout.Text(layout.Accent, "Creating job "+s.plan.Name+p.Glyphs.More+" esc stops"))}
	}
	return nil
}

// runs is ", which runs 2 indexes", "" if the Job has no number of completions.
func (s *retryForm) runs() string {
	switch n := int64(s.plan.Count); {
	case n == 0:
		return ""
	case s.input != nil:
		return ", which runs " + wording.Plural(n, "index", "indexes")
	default:
		return ", which runs " + wording.Plural(n, "completion", "completions")
	}
}

// warnings are what the new Job lacks.
func (s *retryForm) warnings(p *widget.Paint) []layout.Line {
	if s.plan == nil {
		return nil
	}
	var lines []layout.Line
	for _, warning := range s.plan.Warnings {
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Warn|layout.Bold, p.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(warning))), 2)...)
	}
	if rest := len(lines) - maxWarnings + 1; rest > 1 {
		lines = append(lines[:maxWarnings-1], layout.Of(layout.Textf(layout.Muted, "  %s %s", p.Glyphs.Down, wording.Count(rest, "more lines"))))
	}
	return lines
}
