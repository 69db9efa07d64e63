package text

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// indexesLimit is where lists of indexes are cut, as kubectl describe does (CLI-02).
const indexesLimit = 50

// indexes are the lists by state, and what is known of those that failed.
func (v *view) indexes() {
	if v.report.Indexes == nil || v.brief {
		return
	}
	v.page.Title("Indexes", wording.Count(v.report.Indexes.Total, "total"))
	var rows [][]layout.Line
	for _, s := range indexStates(v.report.Indexes, v.over()) {
		if s.count > 0 {
			rows = append(rows, []layout.Line{cell(s.style, s.word), layout.Plainly(wording.Thousands(s.count)), layout.Plainly(v.frame.Crop(s.list, indexesLimit))})
		}
	}
	v.page.Table(indentSection, []layout.Column{{}, {Right: true}, prose("")}, rows)
	v.indexDetails(v.report.Indexes)
}

// over reports whether the Job has finished.
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
		{"unknown", x.Unknown, x.UnknownCount, layout.Plain},
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
	v.page.Place(indentSection, section.FailedIndexes(v.frame, shown, v.stateOf)...)
	v.page.omitted(int64(omitted), "index with failures", "indexes with failures")
}

// stateOf is the state of an index; nothing is pending in a Job that has ended.
func (v *view) stateOf(info *explain.IndexInfo) layout.Line {
	switch {
	case info.State == explain.IndexFailed:
		return cell(layout.Bad, info.State)
	case info.State == explain.IndexBackingOff:
		return cell(layout.Warn, "Back-off")
	case info.State == explain.IndexPending && v.over():
		return layout.Plainly("Not completed")
	}
	return layout.Plainly(info.State)
}
