package section

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Problems draws the problems that block the Job first, and then the others, with quoted details.
func Problems(f *Frame, r *explain.Report) Section {
	return drawProblems(f, r, len(r.Problems), false)
}

// BriefProblems draws at most the given number of Problems, with two lines of details each. For the problem that the verdict
// names, it only draws the kind.
func BriefProblems(f *Frame, r *explain.Report, most int) Section {
	return drawProblems(f, r, most, true)
}

func drawProblems(f *Frame, r *explain.Report, most int, brief bool) Section {
	const details = 2
	s := Section{Title: "Problems"}
	var order []int
	for _, blocks := range []bool{true, false} {
		for i := range r.Problems {
			if r.Problems[i].Blocks == blocks {
				order = append(order, i)
			}
		}
	}
	for _, place := range order[:min(most, len(order))] {
		problem := &r.Problems[place]
		text, examples := wording.Sentence(problem.Text), f.examples(problem.Pods, 2)
		if brief {
			examples = ""
		}
		if v := r.Verdict.Problem; brief && v != nil && *v == int32(place) {
			text = string(problem.Kind)
		}
		l := append(problemMark(f, problem), layout.Text(layout.Bold, text))
		s.Lines = append(s.Lines, f.Wrap(append(l, problemNotes(f, problem, examples)...), 2)...)
		quoted := f.quote(2, problem.Details)
		if brief && len(quoted) > details {
			quoted = quoted[:details]
			quoted[details-1] = f.Cut(append(quoted[details-1], layout.Text(layout.Muted, f.Glyphs.More)), f.Width)
		}
		s.Lines = append(s.Lines, quoted...)
	}
	if n := len(order) - most; n > 0 {
		more := layout.Textf(layout.Muted, "  and %s", wording.Plural(n, "other problem", "other problems"))
		s.Lines = append(s.Lines, f.Cut(layout.Of(more), f.Width))
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
