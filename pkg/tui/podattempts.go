package tui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// podAttempts are the pods of an index, the latest first. Those that were seen stay while
// the screen is open.
type podAttempts struct {
	of    *explain.Report
	known []attempt
	list  list
}

// attempt is one pod; gone says that it is not there any more.
type attempt struct {
	explain.PodInfo
	gone bool
}

// learn takes what a Report knows of the pods of an index; or of one pod, if index is nil.
// The pod that was asked for is listed in any case.
func (a *podAttempts) learn(r *explain.Report, index *int32, pod string) {
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
	// What is left out of the Report may be there.
	gone := r.PodsOmitted == 0 && len(podGaps(r)) == 0
	for _, info := range a.lost(r, index, pod) {
		if !here[info.Name] {
			known, here[info.Name] = append(known, attempt{PodInfo: info, gone: gone}), true
		}
	}
	slices.SortFunc(known, func(x, y attempt) int {
		return cmp.Or(compareTimes(y.Created, x.Created), cmp.Compare(y.Attempt, x.Attempt), cmp.Compare(x.Name, y.Name))
	})
	a.known = known
}

// lost are the pods that are known of though they may not be in the Report.
func (a *podAttempts) lost(r *explain.Report, index *int32, pod string) []explain.PodInfo {
	var out []explain.PodInfo
	for i := range a.known {
		out = append(out, a.known[i].PodInfo)
	}
	if index != nil {
		if info := indexInfo(r, *index); info != nil {
			out = append(out, explain.PodInfo{Name: info.Pod, Index: index, Attempt: info.Attempt, Cause: info.Cause, Failure: info.Failure})
		}
	}
	return append(out, explain.PodInfo{Name: pod, Index: index})
}

// at is the place of a pod, 0 if it is not known.
func (a *podAttempts) at(pod string) int {
	return max(0, slices.IndexFunc(a.known, func(x attempt) bool { return x.Name == pod }))
}

// table is the attempts, at most so many at a time.
func (a *podAttempts) table(p *paint, r *explain.Report, chosen string, most int) []layout.Line {
	if len(a.known) == 0 {
		return nil
	}
	at := a.at(chosen)
	if a.list.cursor != at {
		a.list.move(at - a.list.cursor)
	}
	a.list.resize(len(a.known), min(len(a.known), most), nil)
	a.list.move(at - a.list.cursor)
	known := make([]failureText, len(a.known))
	for i := range a.known {
		known[i] = failureText{a.known[i].Failure, a.known[i].Cause}
	}
	causes := briefCauses(known)
	var cells [][]layout.Line
	for i := range a.known {
		cells = append(cells, a.cells(p, r, i, causes[i]))
	}
	columns := []layout.Column{
		{Header: "TRY", Right: true}, {Header: columnState, Min: 12}, {Header: "CAUSE", Min: 14, Drop: 1}, {Header: "WHEN", Drop: 3},
		{Header: "VERDICT", Min: 16, Drop: 2}, {Header: columnName, Min: 20, Drop: 4, Middle: true},
	}
	header, lines := layout.Table(columns, cells, p.Width-cursorWidth, p.Glyphs.Ellipsis)
	out := []layout.Line{header.Indent(cursorWidth)}
	first, end := rows(len(lines), a.list.top, a.list.height)
	for i := first; i < end; i++ {
		out = append(out, chosenRow(p, lines[i], i == at))
	}
	if hidden := len(lines) - (end - first); hidden > 0 {
		out[0] = layout.Spread(p.Width, out[0], layout.Of(layout.Textf(layout.Muted, " %d of %d", at+1, len(lines))), p.Glyphs.Ellipsis)
	}
	return out
}

func (a *podAttempts) cells(p *paint, r *explain.Report, i int, cause string) []layout.Line {
	pod := &a.known[i]
	state := section.PodState(&p.Frame, &pod.PodInfo)
	when := podWhen(p, &pod.PodInfo)
	switch {
	case pod.State == "" && !pod.gone:
		state = layout.Of(layout.Text(layout.Muted, p.Glyphs.Dot+" not in the list"))
	case pod.gone:
		state = layout.Of(layout.Text(layout.Muted, p.Glyphs.Dot+" gone"))
		if pod.State != "" {
			state = append(state, layout.Text(layout.Muted, ", was "+pod.State))
		}
		if pod.Ended.IsZero() {
			when = layout.Of(layout.Text(layout.Muted, "-"))
		}
	}
	// Where the controller does not number its pods, their order does: it is right as long
	// as none is gone.
	try := section.Number(pod.Attempt)
	if try == "" && len(a.known) > 1 {
		try = fmt.Sprint(len(a.known) - i)
	}
	return []layout.Line{
		layout.Plainly(try), state, layout.Plainly(cause), when, podVerdict(r, &pod.PodInfo),
		layout.Of(layout.Text(layout.Muted, pod.Name)),
	}
}
