package section

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problems draws the problems that block the Job first, and then the others, with quoted details.
func Problems(f *Frame, r *explain.Report) Section {
	s := Section{Title: "Problems"}
	var order []int
	for _, blocks := range []bool{true, false} {
		for i := range r.Problems {
			if r.Problems[i].Blocks == blocks {
				order = append(order, i)
			}
		}
	}
	for _, place := range order {
		problem := &r.Problems[place]
		l := append(problemMark(f, problem), layout.Text(layout.Bold, wording.Sentence(problem.Text)))
		s.Lines = append(s.Lines, f.Wrap(append(l, problemNotes(f, problem, f.examples(problem.Pods, 2))...), 2)...)
		s.Lines = append(s.Lines, f.quote(2, problem.Details)...)
	}
	return s
}

func problemMark(f *Frame, problem *explain.Problem) layout.Line {
	switch {
	case problem.Kind == explain.ProblemSuspended:
		return cell(layout.Warn|layout.Bold, f.Glyphs.Paused+" ")
	case problem.Blocks:
		return cell(layout.Bad|layout.Bold, f.Glyphs.Bad+" ")
	}
	return cell(layout.Warn|layout.Bold, f.Glyphs.Warn+" ")
}

// ProblemLine draws a problem in one line, without its notes.
func ProblemLine(f *Frame, problem *explain.Problem) layout.Line {
	return append(problemMark(f, problem), layout.Text(layout.Plain, wording.Sentence(problem.Text)))
}

// problemNotes draws "(blocks, 3 pods: a, b, …, for 2m)".
func problemNotes(f *Frame, problem *explain.Problem, examples string) layout.Line {
	blocks, pods, since := "", "", ""
	if !problem.Since.IsZero() {
		since = "for " + wording.Age(f.Now.Sub(problem.Since.Time))
	}
	if problem.Blocks && problem.Kind != explain.ProblemSuspended {
		blocks = "blocks"
	}
	switch {
	case problem.Count > 1 || problem.Count == 1 && len(problem.Pods) == 0:
		pods = wording.Join(": ", wording.Plural(problem.Count, "pod", "pods"), examples)
	case len(problem.Pods) > 0:
		pods = "pod " + problem.Pods[0]
	}
	notes := wording.Join(", ", blocks, pods, since)
	if notes == "" {
		return nil
	}
	return cell(layout.Muted, fmt.Sprintf(" (%s)", notes))
}
