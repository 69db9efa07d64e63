package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Family draws a table of the Jobs of a family, and the histories of failed indexes: at most the given number unless f.Full.
func Family(f *Frame, r *explain.Report, most int) Section {
	family := r.Family
	if family == nil {
		return Section{}
	}
	columns := []layout.Column{
		{Header: "JOB", Min: 16, Middle: true},
		{Header: "STATUS"},
		{Header: "INDEXES", Min: 7},
		{Header: "COMPLETED", Right: true},
		{Header: "FAILED", Right: true},
		{Header: "CAUSE"},
	}
	var rows [][]layout.Line
	if family.RootGone {
		rows = append(rows, []layout.Line{cell(layout.Muted, family.Root), cell(layout.Muted, "gone"), nil, nil, nil, nil})
	}
	for i := range family.Members {
		rows = append(rows, memberRow(f, &family.Members[i]))
	}
	s := Section{Title: "Retries", Note: family.Text, Lines: f.table(columns, rows)}
	if family.Missing != "" {
		s.Note += " (" + f.Crop(family.Missing, indexesLimit) + ")"
	}

	// One sentence for all indexes with the same history.
	rest := int32(0)
	for i := range family.Histories {
		h := &family.Histories[i]
		if i >= most && !f.Full {
			rest += h.Count
			continue
		}
		text := either(h.Count == 1, "Index ", "Indexes ") + f.Crop(h.Indexes, indexesLimit) + " " + h.Text + "."
		s.Lines = append(s.Lines, f.Wrap(layout.Plainly(text), 2)...)
	}
	if rest > 0 {
		more := wording.Plural(int64(rest), "more index that failed", "more indexes that failed")
		s.Lines = append(s.Lines, cell(layout.Muted, f.Glyphs.More+" "+more))
	}
	return s
}

func memberRow(f *Frame, m *explain.FamilyMember) []layout.Line {
	mark, style := JobMark(&f.Glyphs, m.Outcome, false, m.Pending || m.Status == "Suspended")
	status, done, cause := m.Status, wording.Thousands(m.Completed), ""
	if m.Pending {
		status = "Interrupted"
	}
	if m.Count != nil {
		done = wording.Of(m.Completed, *m.Count)
	}
	if m.Failure != nil {
		cause = m.Failure.Short()
	}
	return []layout.Line{
		layout.Plainly(m.Name), cell(style, mark+" "+status), layout.Plainly(f.Crop(m.Indexes, indexesLimit)), layout.Plainly(done),
		layout.Plainly(Number(m.Failed)), layout.Plainly(cause),
	}
}
