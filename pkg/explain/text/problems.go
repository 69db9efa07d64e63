package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// problems are what keeps the Job from going on, with quoted details.
func (v *view) problems() {
	if len(v.report.Problems) == 0 {
		return
	}
	v.page.Title("Problems", "")
	for _, problem := range v.report.Problems {
		v.problem(problem)
	}
}

func (v *view) problem(problem explain.Problem) {
	mark, text := layout.Text(layout.Warn|layout.Bold, v.page.Glyphs.Warn+" "), plain(wording.Sentence(problem.Text))
	if problem.Blocks {
		mark = layout.Text(layout.Bad|layout.Bold, v.page.Glyphs.Bad+" ")
	}
	spans := layout.Of(mark, text)
	blocks := ""
	if problem.Blocks {
		blocks = "blocks"
	}
	if notes := wording.Join(", ", blocks, v.problemPods(problem), v.since(problem)); notes != "" {
		spans = append(spans, layout.Text(layout.Muted, " ("+notes+")"))
	}
	v.page.Para(indentSection, indentSection+2, spans...)
	v.page.Quote(indentSection+2, problem.Details...)
}

func (v *view) problemPods(problem explain.Problem) string {
	switch {
	case len(problem.Pods) == 0 && problem.Count == 0:
		return ""
	case len(problem.Pods) == 0:
		return wording.Plural(int64(problem.Count), "pod", "pods")
	case problem.Count > 1:
		return fmt.Sprintf("%d pods: %s", problem.Count, v.page.examples(problem.Pods, 2))
	}
	return "pod " + v.page.examples(problem.Pods, 1)
}

func (v *view) since(problem explain.Problem) string {
	if problem.Since.IsZero() {
		return ""
	}
	return "for " + wording.Duration(max(0, v.report.ObservedAt.Sub(problem.Since.Time)))
}
