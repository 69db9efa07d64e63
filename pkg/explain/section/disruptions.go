package section

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Disruptions draws who took pods from the Job, what that cost, and what the rules of the podFailurePolicy decided.
func Disruptions(f *Frame, r *explain.Report) Section {
	d := r.Disruptions
	if d == nil {
		return Section{}
	}
	type row = explain.Disruption
	s := Section{Title: "Disruptions", Note: words.DisruptionsNote(d)}
	s.Lines = f.table(layout.TableOf([]layout.Column[row]{
		{Header: "PODS", Right: true, Cell: func(d *row) layout.Line { return cell(layout.Bold, wording.Thousands(d.Pods)) }},
		{Header: "LOST", Right: true, Text: func(d *row) string {
			if d.TimedPods == 0 {
				return "-"
			}
			return wording.Seconds(d.LostSeconds)
		}},
		{
			Header: "BY", Wrap: true, Min: 24,
			Cell:  func(d *row) layout.Line { return layout.Plainly(wording.Sentence(words.DisruptionText(d))) },
			Below: func(d *row) []layout.Line { return disruptionNotes(f, d) },
		},
	}, d.By))
	if d.Index != nil {
		most := fmt.Sprintf("Index %d lost the most: %s.", *d.Index, wording.Plural(d.IndexPods, "pod", "pods"))
		s.Lines = append(s.Lines, f.Wrap(layout.Plainly(most), 2)...)
	}
	return s
}

// disruptionNotes draws what the rules decided, and where the pods were.
func disruptionNotes(f *Frame, d *explain.Disruption) (notes []layout.Line) {
	if text := rulings(d); text != "" {
		notes = append(notes, cell(layout.Accent, text))
	}
	places := wording.Join("; ", placesOf(f, "index", "indexes", d.Indexes), listOf(f, "for pod", "for pods", d.For), listOf(f, "node", "nodes", d.Nodes))
	if places != "" {
		notes = append(notes, cell(layout.Muted, places))
	}
	return notes
}

// rulings returns what the rules decided, "" if it is unknown: "3 ignored by rule 0, 1 counted".
func rulings(d *explain.Disruption) string {
	var all []string
	for i := range d.Rulings {
		r := &d.Rulings[i]
		text := words.RuledText(r.Action)
		if label := RuleLabel(r.Rule, r.RuleName); label != "" {
			text += " by " + label
		}
		all = append(all, wording.Count(r.Pods, text))
	}
	return strings.Join(all, ", ")
}

// placesOf returns a list of intervals after a word, "" for none.
func placesOf(f *Frame, one, many, intervals string) string {
	if intervals == "" {
		return ""
	}
	return either(!strings.ContainsAny(intervals, ",-"), one, many) + " " + f.Crop(intervals, IndexesLimit)
}

// listOf returns the first names of a list after a word, "" for none.
func listOf(f *Frame, one, many string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return either(len(names) == 1, one, many) + " " + f.examples(names, podExamples)
}
