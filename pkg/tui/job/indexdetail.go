package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// cellDetail describes the cell under the cursor in detailLines lines.
func cellDetail(p *widget.Paint, j *screen.Job, c indexmap.Cell) []layout.Line {
	var lines []layout.Line
	if c.N == 1 {
		lines = oneIndex(p, j, &c)
	} else {
		lines = severalIndexes(p, j, &c)
	}
	for i := range lines {
		lines[i] = p.Cut(lines[i], p.Width)
	}
	for len(lines) < detailLines {
		lines = append(lines, nil)
	}
	return lines[:detailLines]
}

// oneIndex returns the state of an index, its failures, its pod, and its last cause of failure.
func oneIndex(p *widget.Paint, j *screen.Job, c *indexmap.Cell) []layout.Line {
	mark := c.Mark()
	info := screen.IndexInfo(j.Report, c.First)
	if info == nil {
		info = &explain.IndexInfo{Index: c.First}
	}
	title := layout.Of(layout.Textf(layout.Bold, "Index %d", c.First),
		layout.Text(mark.Style(), "  "+mark.Glyph(p.ASCII)+" "+j.StateWord(indexmap.State(mark))))
	if attempt := section.Attempt(info); attempt != "" {
		title = append(title, layout.Text(layout.Plain, "  attempt "+attempt))
	}
	lines := []layout.Line{p.Rule(title)}
	if l := failuresOf(p, info); len(l) > 0 {
		lines = append(lines, l)
	}
	pod, n := podOf(j, c.First, info.Pod)
	lines = append(lines, podLine(p, pod, info.Pod, n))
	cause := info.Cause
	if cause == "" && pod != nil {
		cause = pod.Cause
	}
	if cause != "" {
		lines = append(lines, field("last failure", layout.Text(layout.Bad, wording.Sentence(cause))))
	}
	return lines
}

// fieldWidth is the width of the names of fields.
const fieldWidth = 14

// field returns a line with a name and a value.
func field(name string, value ...layout.Span) layout.Line {
	return append(layout.Of(layout.Text(layout.Muted, name)).Pad(fieldWidth), value...)
}

// failuresOf returns "2 against the limit · 1 ignored · next pod in 20s". The status may not have counted the failures yet.
func failuresOf(p *widget.Paint, info *explain.IndexInfo) layout.Line {
	var parts []layout.Span
	if info.Failures > 0 {
		parts = append(parts, layout.Text(layout.Plain, wording.Count(info.Failures, "against the limit")))
	}
	if info.Ignored > 0 {
		parts = append(parts, layout.Text(layout.Plain, wording.Count(info.Ignored, "ignored")))
	}
	if !info.Until.IsZero() {
		parts = append(parts, layout.Text(layout.Warn, "next pod "+p.Countdown(info.Until.Time)))
	}
	if len(parts) == 0 {
		return nil
	}
	return field("failures", p.Dotted(parts)...)
}

// podOf returns the latest pod of an index, nil if the Report has none, and the number of its pods.
func podOf(j *screen.Job, index int32, latest string) (pod *explain.PodInfo, n int) {
	for i := range j.Pods {
		info := &j.Pods[i]
		if info.Index == nil || *info.Index != index {
			continue
		}
		n++
		newer := pod == nil || info.Attempt > pod.Attempt || (!info.Created.IsZero() && (pod.Created.IsZero() || info.Created.After(pod.Created.Time)))
		if info.Name == latest || (newer && (pod == nil || pod.Name != latest)) {
			pod = info
		}
	}
	return pod, n
}

func podLine(p *widget.Paint, pod *explain.PodInfo, name string, n int) layout.Line {
	switch {
	case pod == nil && name == "":
		return field("pod", layout.Text(layout.Muted, "none"))
	case pod == nil:
		return field("pod", layout.Text(layout.Plain, name))
	}
	parts := []layout.Span{layout.Text(layout.Plain, pod.Name), layout.Text(layout.Plain, pod.State)}
	if pod.Restarts > 0 {
		parts = append(parts, layout.Text(layout.Warn, wording.Plural(pod.Restarts, "restart", "restarts")))
	}
	switch {
	case !pod.GraceEnds.IsZero():
		parts = append(parts, layout.Text(layout.Special, "grace period ends "+p.Countdown(pod.GraceEnds.Time)))
	case !pod.Ended.IsZero():
		parts = append(parts, layout.Text(layout.Muted, "ended "+p.When(pod.Ended)))
	case !pod.Created.IsZero():
		parts = append(parts, layout.Text(layout.Muted, "created "+p.When(pod.Created)))
	}
	if n > 1 {
		parts = append(parts, layout.Textf(layout.Muted, "latest of %d", n))
	}
	if pod.Node != "" {
		parts = append(parts, layout.Text(layout.Muted, "on "+pod.Node))
	}
	return field("pod", p.Dotted(parts)...)
}

// severalIndexes returns the counts by state of a cell, and the indexes that need attention.
func severalIndexes(p *widget.Paint, j *screen.Job, c *indexmap.Cell) []layout.Line {
	title := layout.Of(layout.Textf(layout.Bold, "Indexes %d to %d", c.First, c.Last), layout.Text(layout.Muted, "  "+wording.Count(c.N, "in this cell")))
	lines := []layout.Line{p.Rule(title)}
	var counts []layout.Line
	for _, state := range legendStates() {
		if n := c.Counts[state]; n > 0 {
			mark := indexmap.Mark(state)
			counts = append(counts, layout.Of(layout.Text(mark.Style(), wording.Join(" ", mark.Glyph(p.ASCII), wording.Thousands(n))), layout.Text(layout.Plain, " "+j.StateWord(state))))
		}
	}
	lines = append(lines, layout.Flow(counts, p.Width, 3)...)
	for _, state := range []indexmap.State{indexmap.Failed, indexmap.BackOff, indexmap.Terminating, indexmap.OutOfRange, indexmap.Unknown} {
		if n := int(c.Counts[state]); n > 0 {
			list := examples(j.Map.Indexes(c.First, c.Last, indexmap.SetOf(state), maxExamples), n, p.Glyphs.Ellipsis)
			lines = append(lines, field(state.Word(), layout.Text(indexmap.Mark(state).Style(), list)))
		}
	}
	return lines
}

// maxExamples is the maximum number of indexes listed for a cell.
const maxExamples = 12

// examples formats a list such as "3, 7, 12, …".
func examples(indexes []int32, all int, ellipsis string) string {
	texts := make([]string, 0, len(indexes)+1)
	for _, index := range indexes {
		texts = append(texts, strconv.Itoa(int(index)))
	}
	if len(indexes) < all {
		texts = append(texts, ellipsis)
	}
	return strings.Join(texts, ", ")
}

// leastTable is the minimum height of the table of indexes: a title, a header, and a row.
const leastTable = 3

// indexesWithFailures returns the indexes with failures that the Report lists, as far as they fit below the map.
func indexesWithFailures(p *widget.Paint, j *screen.Job, height int) []layout.Line {
	details := j.Indexes.Details
	if len(details) == 0 {
		return nil
	}
	shown := details[:min(len(details), height-2)]
	all := int64(len(details)) + int64(j.Indexes.DetailsOmitted)
	note := wording.Plural(all, "index", "indexes")
	if int64(len(shown)) < all {
		note = fmt.Sprintf("%s of %s: %s shows the next", wording.Thousands(len(shown)), note, p.KeyName(keyLook))
	}
	lines := section.FailedIndexes(&p.Frame, shown, func(info *explain.IndexInfo) layout.Line { return indexState(p, j, info) })
	return append([]layout.Line{p.Title("With failures", note)}, lines...)
}

// indexState returns the state of an index, with the same mark as on the map.
func indexState(p *widget.Paint, j *screen.Job, info *explain.IndexInfo) layout.Line {
	state, known := j.Map.State(info.Index)
	if !known {
		return layout.Plainly(info.State)
	}
	mark := indexmap.Mark(state)
	return layout.Of(layout.Text(mark.Style(), mark.Glyph(p.ASCII)+" "+j.StateWord(state)))
}
