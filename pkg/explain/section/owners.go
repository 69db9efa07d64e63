package section

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Columns that the row of an owner has, too.
const (
	NamespaceColumn = "NAMESPACE"
	NameColumn      = "NAME"
	WhyColumn       = "WHY"
)

// Owner is a row that stands for the Jobs of an owner, which Jobs counts.
type Owner struct {
	Namespace, Name string
	Jobs            layout.Line
}

// WithOwners returns columns that draw the rows for which of returns an Owner: their namespace, name, and Jobs in place of WHY.
func WithOwners[T any](columns []layout.Column[T], of func(*T) *Owner) []layout.Column[T] {
	for i := range columns {
		header, text, cell, style := columns[i].Header, columns[i].Text, columns[i].Cell, columns[i].Style
		if cell == nil {
			cell = func(row *T) layout.Line { return layout.Of(layout.Text(style, text(row))) }
		}
		columns[i].Text, columns[i].Cell = nil, func(row *T) layout.Line {
			owner := of(row)
			switch {
			case owner == nil:
				return cell(row)
			case header == NamespaceColumn:
				return layout.Plainly(owner.Namespace)
			case header == NameColumn:
				return layout.Of(layout.Text(layout.Bold, owner.Name))
			case header == WhyColumn:
				return owner.Jobs
			}
			return nil
		}
	}
	return columns
}

// JobCounts returns "4 Jobs: 1 Failed, 3 Complete" for the states of Jobs: complete Jobs last, because a narrow terminal cuts the text.
func JobCounts(of []string) layout.Line {
	counts := map[string]int{}
	var states []string
	for _, state := range of {
		if counts[state]++; counts[state] == 1 {
			states = append(states, state)
		}
	}
	if i := slices.Index(states, string(batchv1.JobComplete)); i >= 0 {
		states = append(slices.Delete(states, i, i+1), string(batchv1.JobComplete))
	}
	for i, state := range states {
		states[i] = wording.Count(counts[state], state)
	}
	return layout.Of(layout.Text(layout.Muted, wording.Plural(len(of), "Job", "Jobs")+": "+strings.Join(states, ", ")))
}
