package text

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	timelineHead = 4
	timelineTail = 11
)

// timeline writes the moments of the timeline, relative to the start of the Job.
func (v *view) timeline() {
	if v.brief {
		return
	}
	var moments []*explain.Moment
	for i := range v.report.Timeline {
		moments = append(moments, &v.report.Timeline[i])
	}
	all := section.Moments(v.frame, v.report, moments)
	if skipped := len(all) - timelineHead - timelineTail; skipped > 1 && !v.page.opts.Full {
		more := layout.Textf(layout.Muted, "%s %s, see --full", v.page.Glyphs.More, wording.Count(skipped, "more"))
		all = slices.Replace(all, timelineHead, timelineHead+skipped, []layout.Line{layout.Of(more)})
	}
	since := "since " + v.frame.Clock(section.Start(v.report))
	v.page.section(section.Section{Title: "Timeline", Note: since, Lines: slices.Concat(all...)})
}
