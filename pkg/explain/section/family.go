package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// FamilyJobs draws a table of the Jobs of a family.
func FamilyJobs(f *Frame, r *explain.Report) Section {
	family := r.Family
	if family == nil {
		return Section{}
	}
	members := family.Members
	if family.RootGone {
		members = append([]explain.FamilyMember{{Name: family.Root}}, members...)
	}
	type member = explain.FamilyMember
	isGone := func(m *member) bool { return m.Status == "" }
	table := layout.TableOf([]layout.Column[member]{
		{Header: "JOB", Min: 16, Middle: true, Cell: func(m *member) layout.Line {
			if isGone(m) {
				return cell(layout.Muted, m.Name)
			}
			return layout.Plainly(m.Name)
		}},
		{Header: "STATUS", Cell: func(m *member) layout.Line {
			if isGone(m) {
				return cell(layout.Muted, "gone")
			}
			mark, style := JobMark(&f.Glyphs, m.Outcome, false, m.Pending || m.Status == "Suspended")
			return cell(style, mark+" "+either(m.Pending, "Interrupted", m.Status))
		}},
		{Header: "INDEXES", Min: 7, Text: func(m *member) string { return f.Crop(m.Indexes, IndexesLimit) }},
		{Header: "COMPLETED", Right: true, Text: func(m *member) string {
			switch {
			case isGone(m):
				return ""
			case m.Count != nil:
				return wording.Of(m.Completed, *m.Count)
			}
			return wording.Thousands(m.Completed)
		}},
		{Header: "FAILED", Right: true, Text: func(m *member) string { return Number(m.Failed) }},
		{Header: "CAUSE", Text: func(m *member) string {
			if m.Failure == nil {
				return ""
			}
			return m.Failure.Short()
		}},
	}, members)
	s := Section{Title: "Retries", Note: family.Text, Lines: f.table(table)}
	if family.Missing != "" {
		s.Note += " (" + f.Crop(family.Missing, IndexesLimit) + ")"
	}
	return s
}

// Family draws FamilyJobs, and the histories of failed indexes: at most the given number unless f.Full.
func Family(f *Frame, r *explain.Report, most int) Section {
	s, family, rest := FamilyJobs(f, r), r.Family, int32(0)
	if family == nil {
		return s
	}
	// One sentence for all indexes with the same history.
	for i := range family.Histories {
		h := &family.Histories[i]
		if i >= most && !f.Full {
			rest += h.Count
			continue
		}
		text := either(h.Count == 1, "Index ", "Indexes ") + f.Crop(h.Indexes, IndexesLimit) + " " + h.Text + "."
		s.Lines = append(s.Lines, f.Wrap(layout.Plainly(text), 2)...)
	}
	if rest > 0 {
		more := wording.Plural(rest, "more index that failed", "more indexes that failed")
		s.Lines = append(s.Lines, cell(layout.Muted, f.Glyphs.More+" "+more))
	}
	return s
}
