package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Family is a table of the Jobs of a family, and what happened to the indexes that failed. most is how many of these
// histories are shown unless f.Full.
func Family(f *Frame, r *explain.Report, most int) Section {
	if r.Family == nil {
		return Section{}
	}
	columns := []layout.Column{
		{Header: "JOB", Min: 16, Middle: true}, {Header: "STATUS"}, {Header: "INDEXES", Min: 7}, {Header: "COMPLETED", Right: true},
		{Header: "FAILED", Right: true}, {Header: "CAUSE"},
	}
	var rows [][]layout.Line
	if r.Family.RootGone {
		rows = append(rows, []layout.Line{cell(layout.Muted, r.Family.Root), cell(layout.Muted, "gone"), nil, nil, nil, nil})
	}
	for i := range r.Family.Members {
		m, short := &r.Family.Members[i], ""
		if m.Failure != nil {
			short = m.Failure.Short()
		}
		rows = append(rows, []layout.Line{
			layout.Plainly(m.Name), memberStatus(f, m), layout.Plainly(f.Crop(m.Indexes, indexesLimit)),
			layout.Plainly(memberDone(m)), layout.Plainly(Number(m.Failed)), layout.Plainly(short),
		})
	}
	return Section{Title: "Family", Note: FamilyNote(f, r.Family), Lines: append(f.table(columns, rows), histories(f, r.Family, most)...)}
}

// BriefFamily is the Family with its Jobs in one line.
func BriefFamily(f *Frame, r *explain.Report, most int) Section {
	if r.Family == nil {
		return Section{}
	}
	lines := FamilyJobs(f, r.Family, f.Width)
	return Section{Title: "Family", Note: FamilyNote(f, r.Family), Lines: append(lines, histories(f, r.Family, most)...)}
}

// FamilyJobs are the Jobs by attempt, each with what it has done: "✗ sweep 8 of 10   ✓ sweep-retry-1 2 of 2".
func FamilyJobs(f *Frame, family *explain.Family, width int) []layout.Line {
	var all []layout.Line
	if family.RootGone {
		all = append(all, cell(layout.Muted, family.Root+" gone"))
	}
	for i := range family.Members {
		m := &family.Members[i]
		mark, style := memberMark(f, m)
		done := memberDone(m)
		if m.Pending {
			done = "interrupted"
		}
		all = append(all, layout.Of(layout.Text(style, mark+" "), layout.Text(layout.Plain, m.Name), layout.Text(layout.Muted, " "+done)))
	}
	return layout.Flow(all, width, 3)
}

// FamilyNote is whether the family is complete, and what is missing.
func FamilyNote(f *Frame, family *explain.Family) string {
	if family.Missing == "" {
		return family.Text
	}
	return family.Text + " (" + f.Crop(family.Missing, indexesLimit) + ")"
}

func memberMark(f *Frame, m *explain.FamilyMember) (mark string, style layout.Style) {
	return JobMark(&f.Glyphs, m.Fate, false, m.Pending || m.Status == "Suspended")
}

func memberStatus(f *Frame, m *explain.FamilyMember) layout.Line {
	mark, style := memberMark(f, m)
	if m.Pending {
		return cell(style, mark+" Interrupted")
	}
	return cell(style, mark+" "+m.Status)
}

// memberDone is "8 of 10", or "8" for a Job without a number of completions.
func memberDone(m *explain.FamilyMember) string {
	switch {
	case m.Pending:
		return ""
	case m.Count == nil:
		return wording.Thousands(m.Completed)
	}
	return wording.Of(m.Completed, *m.Count)
}

// histories are what happened to indexes, a sentence for those with the same history.
func histories(f *Frame, family *explain.Family, most int) []layout.Line {
	shown := family.Histories
	if !f.Full {
		shown = shown[:min(most, len(shown))]
	}
	var lines []layout.Line
	for i := range shown {
		h := &shown[i]
		text := either(h.Count == 1, "Index ", "Indexes ") + f.Crop(h.Indexes, indexesLimit) + " " + h.Text + "."
		lines = append(lines, f.Wrap(layout.Plainly(text), 2)...)
	}
	rest := int32(0)
	for _, h := range family.Histories[len(shown):] {
		rest += h.Count
	}
	if rest > 0 {
		more := f.Glyphs.More + " " + wording.Plural(int64(rest), "more index that failed", "more indexes that failed")
		if f.Printed {
			more += ", see --full"
		}
		lines = append(lines, cell(layout.Muted, more))
	}
	return lines
}
