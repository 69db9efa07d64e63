package pods

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// indexCounts returns the attempts, failures and back-off of an index.
func indexCounts(p *widget.Paint, info *explain.IndexInfo) layout.Line {
	var l layout.Line
	part := func(style layout.Style, format string, args ...any) {
		l = append(l, layout.Blank(2), layout.Textf(style, format, args...))
	}
	if !info.Until.IsZero() && info.State == explain.IndexBackingOff {
		part(layout.Warn, "next pod %s", p.Countdown(info.Until.Time))
	}
	if attempt := section.Attempt(info); attempt != "" {
		part(layout.Plain, "attempt %s", attempt)
	}
	if info.Failures > 0 {
		part(layout.Bad, "%s", wording.Plural(info.Failures, "failure", "failures"))
	}
	if info.Ignored > 0 {
		part(layout.Muted, "%s", wording.Count(info.Ignored, "ignored"))
	}
	return l
}

// knownWithoutPods returns the information about an index, or a pod, that does not come from its pods.
func knownWithoutPods(p *widget.Paint, r *explain.Report, index *int32, pod string) []layout.Line {
	var out []layout.Line
	if index != nil {
		if info := screen.IndexInfo(r, *index); info != nil && info.Cause != "" {
			out = append(out, p.Wrap(layout.Of(layout.Text(layout.Muted, "Its last failure: "), layout.Text(layout.Plain, info.Cause)), 2)...)
		}
	}
	among := explain.Report{}
	for i := range r.Causes {
		c := &r.Causes[i]
		if slices.Contains(c.Pods, pod) || index != nil && listHas(c.Indexes, *index) {
			among.Causes = append(among.Causes, *c)
		}
	}
	if among.Causes == nil {
		return out
	}
	out = append(out, layout.Of(layout.Text(layout.Bold, "Part of these failures")))
	return append(out, section.Causes(&p.Frame, &among).Lines...)
}

// listHas reports whether an index is in a list of intervals.
func listHas(list string, index int32) bool {
	for iv, err := range indexset.Scan(list) {
		if err == nil && iv.First <= index && index <= iv.Last {
			return true
		}
	}
	return false
}
