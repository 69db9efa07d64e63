package joblist

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// A terminal of 100x30 has room for a preview below the list, and one of 140 columns beside it, with two thirds of the
// columns, at most mostPreview; the list keeps leastList, or leastNamespaces, so that reasons have room. On a smaller terminal,
// the preview has the lines that the list leaves, if these are leastPreview; aboveList is the maximum number of lines above the
// rows.
const (
	previewWidth    = 100
	previewHeight   = 30 - 2
	besideWidth     = 140
	besideGap       = 3
	mostPreview     = 120
	leastList       = 60
	leastNamespaces = 72
	leastPreview    = 6
	aboveList       = 7
)

// isBeside reports whether the preview is beside the list.
func isBeside(d *screen.Data) bool { return d.Width >= besideWidth && d.Height >= previewHeight }

// besideList returns the width of a list with a preview beside it.
func besideList(width int, jobs []explain.Outline) int {
	least := max((width-besideGap)/3, width-besideGap-mostPreview, leastList)
	if len(jobs) > 0 && jobs[0].Namespace != jobs[len(jobs)-1].Namespace {
		return max(least, leastNamespaces)
	}
	return least
}

// previewLines returns the minimum height of the preview, 0 for none.
func (s *listScreen) previewLines(d *screen.Data) int {
	if d.Snap.Jobs == nil || s.previewed(d).Name == "" && s.chosenCronJob() == nil {
		return 0
	}
	s.arrange(d.Snap.Jobs, d.Snap.AsOf())
	above := aboveList
	if s.table.Filter.Text == "" {
		above--
	}
	if len(d.Snap.Jobs.Gaps) == 0 {
		above -= 2
	}
	switch {
	case isBeside(d):
		return d.Height
	case d.Width >= previewWidth && d.Height >= previewHeight:
		return d.Height - d.Height*9/20 - 1
	case d.Height-above-s.table.Len()-1 >= leastPreview:
		return leastPreview
	}
	return 0
}

// Follow sets the preview to the Job under the cursor.
func (s *listScreen) Follow(d *screen.Data) {
	s.preview = types.NamespacedName{}
	if s.previewLines(d) > 0 {
		s.preview = s.previewed(d)
	}
}

// previewed returns the Job under the cursor; in a recording, the Job that was previewed. It is zero if there is none.
func (s *listScreen) previewed(d *screen.Data) (key types.NamespacedName) {
	if s.o.Recorded {
		if f := d.Snap.Focus; f.Preview {
			key = f.Job
		}
		return key
	}
	if chosen := s.Chosen(d); chosen != nil {
		key = types.NamespacedName{Namespace: chosen.Namespace, Name: chosen.Name}
	}
	return key
}

// withPreview returns the list, with the preview if there is room.
func (s *listScreen) withPreview(p *widget.Paint, d *screen.Data) []layout.Line {
	height := s.previewLines(d)
	switch {
	case height == 0:
		return s.list(p, d)
	case isBeside(d):
		list := p.Sized(besideList(p.Width, d.Snap.Jobs.Items), p.Height)
		lines := s.list(list, d) // This moves the cursor to the current row of its Job.
		preview := s.drawPreview(p.Sized(p.Width-list.Width-besideGap, p.Height), d)
		return layout.Beside(lines, list.Width, besideGap, preview, p.Glyphs.Ellipsis)
	}
	lines := append(s.list(p.Sized(p.Width, max(1, p.Height-height-1)), d), nil)
	return append(lines, s.drawPreview(p.Sized(p.Width, max(1, p.Height-len(lines))), d)...)
}

// drawPreview returns the preview of the Job under the cursor, or the newest Jobs of the CronJob.
func (s *listScreen) drawPreview(p *widget.Paint, d *screen.Data) []layout.Line {
	c := s.chosenCronJob()
	if c == nil || s.o.Recorded {
		return job.Preview(p, d, s.previewed(d))
	}
	runs := make([]*explain.Outline, len(c.jobs))
	for i, at := range c.jobs {
		runs[i] = &d.Snap.Jobs.Items[at]
	}
	slices.SortStableFunc(runs, func(a, b *explain.Outline) int {
		return cmp.Or(cmp.Compare(ageOf(a, p.Now), ageOf(b, p.Now)), cmp.Compare(b.Name, a.Name))
	})
	header, rows := layout.TableOf([]layout.Column[*explain.Outline]{
		{Header: section.NameColumn, Min: 12, Middle: true, Text: func(o **explain.Outline) string { return (*o).Name }},
		{Header: "STATUS", Cell: func(o **explain.Outline) layout.Line { return statusCell(p, *o) }},
		{Header: section.WhyColumn, Min: words.WhyWidth, Cell: func(o **explain.Outline) layout.Line { return whyCell(p, *o, words.WhyWidth) }},
		{Header: "DURATION", Right: true, Drop: 1, Text: func(o **explain.Outline) string { return ranFor(p, *o) }},
		{Header: "AGE", Right: true, Cell: func(o **explain.Outline) layout.Line { return ageCell(p, (*o).Created) }},
	}, runs).Lines(p.Width, p.Glyphs.Ellipsis)
	lines := append([]layout.Line{p.Title(c.name.String(), "CronJob, "+wording.Plural(len(runs), "Job", "Jobs")), header}, rows...)
	return lines[:min(len(lines), p.Height)]
}
