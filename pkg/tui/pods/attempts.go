package pods

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// attempts are the pods of an index, the latest first. A pod that was seen stays in the list while the screen is open.
type attempts struct {
	of    *explain.Report
	known []attempt
	list  widget.List
}

// attempt is one pod; gone is set if it no longer exists. number and cause are what the table shows.
type attempt struct {
	explain.PodInfo
	gone          bool
	number, cause string
}

// learn updates the list with the pods of an index in a Report, or with one pod if index is nil. The named pod is always
// listed.
func (a *attempts) learn(r *explain.Report, index *int32, pod string) {
	if a.of == r {
		return
	}
	a.of = r
	var known []attempt
	here := map[string]bool{"": true}
	for i := range r.Pods {
		info := &r.Pods[i]
		if info.Name == pod || index != nil && info.Index != nil && *info.Index == *index {
			known, here[info.Name] = append(known, attempt{PodInfo: *info}), true
		}
	}
	// Pods that the Report omits may exist.
	gone := r.PodsOmitted == 0 && len(podGaps(r)) == 0
	for _, info := range a.lost(r, index, pod) {
		if !here[info.Name] {
			known, here[info.Name] = append(known, attempt{PodInfo: info, gone: gone}), true
		}
	}
	slices.SortFunc(known, func(x, y attempt) int {
		return cmp.Or(compareTimes(y.Created, x.Created), cmp.Compare(y.Attempt, x.Attempt), cmp.Compare(x.Name, y.Name))
	})
	failures := make([]FailureText, len(known))
	for i := range known {
		failures[i] = FailureText{known[i].Failure, known[i].Cause}
		known[i].number = section.Number(known[i].Attempt)
		// If the controller does not number its pods, their order gives the number, which is correct unless some are gone.
		if known[i].Attempt == 0 && len(known) > 1 {
			known[i].number = fmt.Sprint(len(known) - i)
		}
	}
	for i, cause := range BriefCauses(failures) {
		known[i].cause = cause
	}
	a.known = known
}

// lost returns known pods, which may be missing in the Report.
func (a *attempts) lost(r *explain.Report, index *int32, pod string) []explain.PodInfo {
	var out []explain.PodInfo
	for i := range a.known {
		out = append(out, a.known[i].PodInfo)
	}
	if index != nil {
		if info := screen.IndexInfo(r, *index); info != nil {
			out = append(out, explain.PodInfo{Name: info.Pod, Index: index, Attempt: info.Attempt, Cause: info.Cause, Failure: info.Failure})
		}
	}
	return append(out, explain.PodInfo{Name: pod, Index: index})
}

// at returns the position of a pod, 0 if it is unknown.
func (a *attempts) at(pod string) int {
	return max(0, slices.IndexFunc(a.known, func(x attempt) bool { return x.Name == pod }))
}

// table returns the table of attempts, with at most the given number of rows.
func (a *attempts) table(p *widget.Paint, r *explain.Report, chosen string, most int) []layout.Line {
	if len(a.known) == 0 {
		return nil
	}
	at := a.at(chosen)
	if a.list.Cursor != at {
		a.list.Move(at - a.list.Cursor)
	}
	a.list.Resize(len(a.known), min(len(a.known), most), nil)
	a.list.Move(at - a.list.Cursor)
	header, lines := layout.TableOf([]layout.Column[attempt]{
		{Header: "ATTEMPT", Right: true, Text: func(pod *attempt) string { return pod.number }},
		{Header: "STATE", Min: 17, Cell: func(pod *attempt) layout.Line { return pod.state(p) }},
		{Header: "CAUSE", Min: 14, Drop: 1, Text: func(pod *attempt) string { return pod.cause }},
		{Header: "WHEN", Drop: 3, Cell: func(pod *attempt) layout.Line {
			if pod.gone && pod.Ended.IsZero() {
				return layout.Of(layout.Text(layout.Muted, "-"))
			}
			return whenCell(p, &pod.PodInfo)
		}},
		{Header: "VERDICT", Min: 16, Drop: 2, Cell: func(pod *attempt) layout.Line { return verdict(r, &pod.PodInfo) }},
		{Header: "NAME", Min: 20, Drop: 4, Middle: true, Style: layout.Muted, Text: func(pod *attempt) string { return pod.Name }},
	}, a.known).Lines(p.Width-widget.CursorWidth, p.Glyphs.Ellipsis)
	out := []layout.Line{header.Indent(widget.CursorWidth)}
	first, end := widget.Rows(len(lines), a.list.Top, a.list.Height)
	for i := first; i < end; i++ {
		out = append(out, widget.Row(p, lines[i], i == at))
	}
	if hidden := len(lines) - (end - first); hidden > 0 {
		out[0] = layout.Spread(p.Width, out[0], layout.Of(layout.Text(layout.Muted, " "+wording.Of(at+1, len(lines)))), p.Glyphs.Ellipsis)
	}
	return out
}

// state returns the state of the pod, or that it is not in the list of pods.
func (a *attempt) state(p *widget.Paint) layout.Line {
	switch {
	case a.gone && a.State != "":
		return layout.Of(layout.Text(layout.Muted, p.Glyphs.Dot+" gone"), layout.Text(layout.Muted, ", was "+a.State))
	case a.gone:
		return layout.Of(layout.Text(layout.Muted, p.Glyphs.Dot+" gone"))
	case a.State == "":
		return layout.Of(layout.Text(layout.Muted, p.Glyphs.Dot+" not in the list"))
	}
	return section.PodState(&p.Frame, &a.PodInfo)
}
