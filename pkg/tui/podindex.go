package tui

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// indexInfo is what the Report says of an index, nil if nothing.
func indexInfo(r *explain.Report, index int32) *explain.IndexInfo {
	if r.Indexes == nil {
		return nil
	}
	for i := range r.Indexes.Details {
		if r.Indexes.Details[i].Index == index {
			return &r.Indexes.Details[i]
		}
	}
	return nil
}

// indexCounts are its attempts and failures, and its back-off.
func indexCounts(p *paint, info *explain.IndexInfo) layout.Line {
	var l layout.Line
	part := func(style styleOf, format string, args ...any) {
		l = append(l, layout.Blank(2), layout.Textf(style, format, args...))
	}
	if !info.Until.IsZero() && info.State == explain.IndexBackingOff {
		part(styleWarn, "next pod %s", p.countdown(info.Until.Time))
	}
	switch {
	case info.Attempt > 0 && info.Attempts > 0:
		part(stylePlain, "attempt %d of %d", info.Attempt, info.Attempts)
	case info.Attempt > 0:
		part(stylePlain, "attempt %d", info.Attempt)
	}
	if info.Failures > 0 {
		part(styleBad, "%s", wording.Plural(int64(info.Failures), "failure", "failures"))
	}
	if info.Ignored > 0 {
		part(styleMuted, "%d ignored", info.Ignored)
	}
	return l
}

// indexKnowledge is what is known of an index, or of a pod, without its pods.
func indexKnowledge(p *paint, r *explain.Report, index *int32, pod string) []layout.Line {
	var out []layout.Line
	if index != nil {
		if info := indexInfo(r, *index); info != nil && info.Cause != "" {
			out = append(out, p.wrap(layout.Of(layout.Text(styleMuted, "Its last failure: "), layout.Text(stylePlain, info.Cause)), 2)...)
		}
	}
	title := false
	for i := range r.Causes {
		c := &r.Causes[i]
		if !slices.Contains(c.Pods, pod) && (index == nil || !listHas(c.Indexes, *index)) {
			continue
		}
		if !title {
			title = true
			out = append(out, layout.Of(layout.Text(bold, "Failures it is among")))
		}
		out = append(out, podCause(p, c)...)
	}
	return out
}

// podCause tells one cause.
func podCause(p *paint, c *explain.Cause) []layout.Line {
	l := layout.Of(layout.Textf(styleBad, "%s %d× ", p.glyphs.Bad, c.Count))
	if p.ascii {
		l = layout.Of(layout.Textf(styleBad, "%s %dx ", p.glyphs.Bad, c.Count))
	}
	l = append(l, layout.Text(stylePlain, c.Text))
	if c.Meaning != "" {
		l = append(l, layout.Text(styleMuted, ": "+c.Meaning))
	}
	if c.Rule != nil {
		l = append(l, layout.Text(stylePlain, ", "), layout.Text(styleAccent, ruleTitle(*c.Rule, c.RuleName)), layout.Text(actionStyle(c.Action), " "+c.Action))
	}
	out := p.wrap(l, 2)
	if c.Message != "" {
		out = append(out, p.wrap(layout.Of(layout.Text(styleMuted, "  "+p.glyphs.Quote+" "), layout.Text(stylePlain, c.Message)), 4)...)
	}
	return out
}

// listHas says that an index is in a list of intervals.
func listHas(list string, index int32) bool {
	for iv, err := range indexset.Scan(list) {
		if err == nil && iv.First <= index && index <= iv.Last {
			return true
		}
	}
	return false
}
