package screen

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Gaps are what could not be read.
func Gaps(p *widget.Paint, gaps []explain.Gap) []layout.Line {
	var out []layout.Line
	for i := range gaps {
		l := layout.Of(layout.Text(layout.Warn|layout.Bold, p.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(gaps[i].Text)))
		if gaps[i].Command != "" {
			l = append(l, layout.Text(layout.Muted, "  "+gaps[i].Command))
		}
		out = append(out, p.Wrap(l, 2)...)
	}
	return out
}
