package text

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// indexes writes the lists by state, and the details of indexes with failures.
func (v *view) indexes() {
	x := v.report.Indexes
	if x == nil {
		return
	}
	v.page.Title("Indexes", wording.Count(x.Total, "total"))
	states := slices.DeleteFunc(section.IndexStates(x), func(s section.IndexState) bool { return s.Count == 0 })
	v.page.Table(indentSection, layout.TableOf([]layout.Column[section.IndexState]{
		{Cell: func(s *section.IndexState) layout.Line { return cell(s.Style, s.Word) }},
		{Right: true, Text: func(s *section.IndexState) string { return wording.Thousands(s.Count) }},
		{Wrap: true, Min: proseWidth, Text: func(s *section.IndexState) string { return v.frame.Crop(s.List, section.IndexesLimit) }},
	}, states))

	if len(x.Details) == 0 {
		return
	}
	styles := map[string]layout.Style{explain.IndexFailed: layout.Bad, explain.IndexBackingOff: layout.Warn}
	state := func(info *explain.IndexInfo) layout.Line {
		return cell(styles[info.State], wording.Sentence(section.IndexWord(x, info)))
	}
	v.page.Blank()
	v.page.Place(indentSection, section.FailedIndexes(v.frame, x.Details, state)...)
	v.page.omitted(int64(x.DetailsOmitted), "index with failures", "indexes with failures")
}
