package section

import (
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problems draws the problems that block the Job first, and then the others, with quoted details.
func Problems(f *Frame, r *explain.Report) Section {
	s := Section{Title: "Problems"}
	for _, place := range problemOrder(r) {
		problem := &r.Problems[place]
		l := append(problemMark(f, problem), layout.Text(layout.Bold, wording.Sentence(problem.Text)))
		s.Lines = append(s.Lines, f.Wrap(append(l, problemNotes(f, problem, f.examples(problem.Pods, 2))...), 2)...)
		s.Lines = append(s.Lines, f.quote(2, problem.Details)...)
	}
	return s
}

// BriefProblems draws at most the given number of Problems, with two lines of details each. For the problem that the verdict
// names, it only draws the kind.
func BriefProblems(f *Frame, r *explain.Report, most int) Section {
	const details = 2
	s := Section{Title: "Problems"}
	order := problemOrder(r)
	for _, place := range order[:min(most, len(order))] {
		problem := &r.Problems[place]
		text := wording.Sentence(problem.Text)
		if v := r.Verdict.Problem; v != nil && *v == int32(place) {
			text = string(problem.Kind)
		}
		l := append(problemMark(f, problem), layout.Text(layout.Bold, text))
		s.Lines = append(s.Lines, f.Wrap(append(l, problemNotes(f, problem, "")...), 2)...)
		quoted := f.quote(2, problem.Details)
		if len(quoted) > details {
			quoted = quoted[:details]
			quoted[details-1] = f.Cut(append(quoted[details-1], layout.Text(layout.Muted, f.Glyphs.More)), f.Width)
		}
		s.Lines = append(s.Lines, quoted...)
	}
	if n := len(order) - most; n > 0 {
		more := layout.Textf(layout.Muted, "  and %s", wording.Plural(int64(n), "other problem", "other problems"))
		s.Lines = append(s.Lines, f.Cut(layout.Of(more), f.Width))
	}
	return s
}

// problemOrder returns the positions of the problems, blocking problems first.
func problemOrder(r *explain.Report) []int {
	var blocks, others []int
	for i := range r.Problems {
		if r.Problems[i].Blocks {
			blocks = append(blocks, i)
			continue
		}
		others = append(others, i)
	}
	return slices.Concat(blocks, others)
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
	blocks, pods := "", ""
	if problem.Blocks && problem.Kind != explain.ProblemSuspended {
		blocks = "blocks"
	}
	switch {
	case problem.Count > 1 || problem.Count == 1 && len(problem.Pods) == 0:
		pods = wording.Join(": ", wording.Plural(int64(problem.Count), "pod", "pods"), examples)
	case len(problem.Pods) > 0:
		pods = "pod " + problem.Pods[0]
	}
	notes := wording.Join(", ", blocks, pods, f.since(problem.Since))
	if notes == "" {
		return nil
	}
	return cell(layout.Muted, fmt.Sprintf(" (%s)", notes))
}
