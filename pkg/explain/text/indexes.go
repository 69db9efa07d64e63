package text

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// rowsLimit is how many rows of indexes and pods are shown without Full.
const rowsLimit = 10

// indexesSection are the lists by state, and what is known of those that failed.
func (v *view) indexesSection() {
	if v.report.Indexes == nil || v.brief {
		return
	}
	v.page.Title("Indexes", fmt.Sprintf("%d in all", v.report.Indexes.Total))
	t := table{columns: []layout.Column{{}, {Right: true}, prose("")}}
	for _, s := range indexStates(v.report.Indexes, v.over()) {
		if s.count > 0 {
			t.add(cell(s.style, s.word), layout.Plainly(fmt.Sprint(s.count)), layout.Plainly(v.page.indexes(s.list)))
		}
	}
	v.page.table(indentSection, t)
	v.indexDetails(v.report.Indexes)
}

// over says that the Job has finished.
func (v *view) over() bool { return v.report.Job.Finished != nil }

// indexState is one state with the indexes that have it.
type indexState struct {
	word  string
	list  string
	count int32
	style layout.Style
}

func indexStates(x *explain.Indexes, over bool) []indexState {
	pending := "pending"
	if over {
		pending = "not completed"
	}
	return []indexState{
		{"completed", x.Completed, x.CompletedCount, layout.Good},
		{"failed", x.Failed, x.FailedCount, layout.Bad},
		{"active", x.Active, x.ActiveCount, layout.Plain},
		{"terminating", x.Terminating, x.TerminatingCount, layout.Plain},
		{"in back-off", x.BackingOff, x.BackingOffCount, layout.Warn},
		{pending, x.Pending, x.PendingCount, layout.Plain},
		{"not known", x.Unknown, x.UnknownCount, layout.Plain},
	}
}

func (v *view) indexDetails(x *explain.Indexes) {
	shown, omitted := x.Details, x.DetailsOmitted
	if !v.page.opts.Full && len(shown) > rowsLimit {
		omitted += int32(len(shown) - rowsLimit)
		shown = shown[:rowsLimit]
	}
	if len(shown) == 0 {
		return
	}
	v.page.Blank()
	t := table{columns: []layout.Column{
		{Header: "INDEX", Right: true}, {Header: "STATE"}, {Header: "ATTEMPT"}, {Header: "IGNORED", Right: true, Drop: 3},
		{Header: "NEXT POD", Drop: 1}, {Header: "POD", Min: 16, Middle: true, Drop: 2}, prose("CAUSE"),
	}}
	for _, info := range shown {
		next := ""
		if !info.Until.IsZero() {
			next = v.countdownShort(info.Until.Time)
		}
		t.add(
			layout.Plainly(fmt.Sprint(info.Index)), cell(stateStyle(info.State), v.stateWord(info.State)),
			layout.Plainly(attempt(info)), layout.Plainly(countOrNone(info.Ignored)), layout.Plainly(next),
			layout.Plainly(info.Pod), layout.Plainly(info.Cause),
		)
	}
	v.page.table(indentSection, t)
	v.omitted(int64(omitted), "index with failures", "indexes with failures")
}

// attempt is "2 of 4".
func attempt(info explain.IndexInfo) string {
	switch {
	case info.Attempt == 0:
		return ""
	case info.Attempts == 0:
		return fmt.Sprint(info.Attempt)
	}
	return fmt.Sprintf("%d of %d", info.Attempt, info.Attempts)
}

// stateWord is how a state of an index is written for people; nothing is pending any more in
// a Job that has ended.
func (v *view) stateWord(state string) string {
	switch {
	case state == explain.IndexBackingOff:
		return "Back-off"
	case state == explain.IndexPending && v.over():
		return "Not completed"
	}
	return state
}

func stateStyle(state string) layout.Style {
	switch state {
	case "Failed":
		return layout.Bad
	case "BackingOff":
		return layout.Warn
	case "Completed", "Succeeded":
		return layout.Good
	}
	return layout.Plain
}

func countOrNone(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// omitted says how much a table left out.
func (v *view) omitted(n int64, one, many string) {
	if n == 0 {
		return
	}
	hint := ""
	if !v.page.opts.Full {
		hint = ", see --full"
	}
	more := fmt.Sprintf("%s %d more %s%s", v.page.Glyphs.More, n, either(n == 1, one, many), hint)
	v.page.Para(indentSection, indentSection, layout.Text(layout.Muted, more))
}
