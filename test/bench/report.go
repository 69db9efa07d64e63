//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// row is one line of the comparison. Missing numbers are nil.
type row struct {
	What    string   `json:"what"`
	Ours    *float64 `json:"ours"`
	BuiltIn *float64 `json:"builtIn"`
	// Target is the most that ours may be.
	Target *target `json:"target,omitempty"`
	Met    *bool   `json:"met,omitempty"`

	digits int // after the point
}

type target struct {
	Limit float64 `json:"limit"`
	Below bool    `json:"below,omitempty"` // the limit itself is too much
}

func (t target) metBy(v float64) bool { return v < t.Limit || v == t.Limit && !t.Below }

// report is the comparison, and what to know about it.
type report struct {
	Rows    []row    `json:"rows"`
	Notes   []string `json:"notes"`
	Results results  `json:"results"`
}

func newReport(r results) report {
	out := report{Results: r, Notes: []string{r.Machine + "."}}
	for _, s := range []shape{{1, false}, {10, true}} {
		out.addLatency(r.Latency, s, "")
	}
	out.addThroughput(r)
	out.addFloor(r)
	out.addLatency(r.Beside, shape{0, false}, fmt.Sprintf(" beside %d indexes", r.HugePods))
	out.noteNoise(r)
	for i := range out.Rows {
		out.Rows[i].judge()
	}
	return out
}

func (r *row) judge() {
	if r.Target != nil && r.Ours != nil {
		met := r.Target.metBy(*r.Ours)
		r.Met = &met
	}
}

func (r *report) add(what string, digits int, ours, builtIn *float64, t *target) {
	r.Rows = append(r.Rows, row{What: what, Ours: ours, BuiltIn: builtIn, Target: t, digits: digits})
}

// addLatency has the Jobs of a shape; where is what else ran, "" for nothing.
func (r *report) addLatency(all []latency, shape shape, where string) {
	times := map[side][]float64{}
	for _, l := range all {
		if l.Shape == shape.String() {
			times[l.Side] = append(times[l.Side], l.MS)
		}
	}
	if len(times) == 0 {
		return
	}
	for _, p := range []struct {
		name    string
		percent float64
	}{{"p50", 50}, {"p90", 90}, {"max", 100}} {
		var t *target
		if shape.pods == 1 && p.percent == 50 && where == "" {
			t = &target{Limit: 150, Below: true}
		}
		r.add(fmt.Sprintf("%s%s, create to Complete: %s, ms", shape, where, p.name), 0,
			percentile(times[ours], p.percent), percentile(times[builtIn], p.percent), t)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s%s: Jobs per controller: %d.", shape, where, len(times[ours])))
}

// addThroughput has the means over all rounds.
func (r *report) addThroughput(all results) {
	if len(all.of(ours)) == 0 {
		return
	}
	pods := float64(all.Pods)
	add := func(what string, digits int, t *target, of func(bulk) float64) {
		r.add(what, digits, all.mean(ours, of), all.mean(builtIn, of), t)
	}
	counted := func(of func(accounting) int, per float64) func(bulk) float64 {
		return func(b bulk) float64 { return float64(of(account(b.counts))) / per }
	}
	add(fmt.Sprintf("%d indexes, create to Complete, s", all.Pods), 2, nil, func(b bulk) float64 { return b.Seconds })
	add("pods: POST, per pod", 3, &target{Limit: 1}, counted(func(a accounting) int { return a.Create }, pods))
	add("pods: PATCH (finalizer), per pod", 3, &target{Limit: 1}, counted(func(a accounting) int { return a.Release }, pods))
	add("pods: DELETE", 1, &target{}, counted(func(a accounting) int { return a.Delete }, 1))
	add("all but status and events, per pod", 3, &target{Limit: 2}, counted(accounting.podRequests, pods))
	add("jobs/status: PUT", 1, nil, counted(func(a accounting) int { return a.Status }, 1))
	add("jobs/status: PUT, % of pods", 2, &target{Limit: 1}, counted(func(a accounting) int { return a.Status }, pods/100))
	add("events: writes", 1, nil, counted(func(a accounting) int { return a.Events }, 1))
	r.Notes = append(r.Notes, fmt.Sprintf("%d indexes: means; Jobs per controller, in turns: %d.", all.Pods, len(all.of(ours))))
	for _, s := range []side{ours, builtIn} {
		if others := all.otherRequests(s); others != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("Other requests about pods and Jobs, %s, %d Jobs together: %s.", s, len(all.of(s)), others))
		}
	}
	r.addProcesses(all)
}

// addProcesses compares our process with all of kube-controller-manager, as
// nothing tells its Job controller apart.
func (r *report) addProcesses(all results) {
	if len(all.Bulk[0].CPU) == 0 {
		return
	}
	cpu := func(name string) func(bulk) float64 { return func(b bulk) float64 { return b.CPU[name] } }
	peak := func(name string) func(bulk) float64 {
		return func(b bulk) float64 { return float64(b.Peak[name]) / 1e6 }
	}
	r.add("CPU of the controller, s", 2, all.mean(ours, cpu(procOurs)), all.mean(builtIn, cpu(procManager)), nil)
	r.add("CPU of kube-controller-manager, s", 2, all.mean(ours, cpu(procManager)), all.mean(builtIn, cpu(procManager)), nil)
	r.add("CPU of kube-apiserver, s", 2, all.mean(ours, cpu(procServer)), all.mean(builtIn, cpu(procServer)), nil)
	r.add("peak RSS of the controller, MB", 0, all.mean(ours, peak(procOurs)), all.mean(builtIn, peak(procManager)), nil)
	r.Notes = append(r.Notes, "CPU and memory of the built-in controller are those of the whole kube-controller-manager, whose garbage collector and others follow our pods too.")
}

func (r *report) addFloor(all results) {
	seconds := func(b bulk) float64 { return b.Seconds }
	lowest := all.mean(floor, seconds)
	if lowest == nil {
		return
	}
	relative := func(s side) *float64 {
		mean := all.mean(s, seconds)
		if mean != nil {
			*mean /= *lowest
		}
		return mean
	}
	r.add(fmt.Sprintf("time / floor (%.2f s)", *lowest), 2, relative(ours), relative(builtIn), nil)
	note := "Floor: a bare client that creates the same pods and strips the finalizer of each as it succeeds"
	if cpu := all.mean(floor, func(b bulk) float64 { return b.CPU[procServer] }); *cpu > 0 {
		note += fmt.Sprintf("; kube-apiserver used %.2f s of CPU for that", *cpu)
	}
	r.Notes = append(r.Notes, note+".")
}

// noteNoise warns if others used more of the CPU than that changes little.
func (r *report) noteNoise(all results) {
	var foreign, total float64
	for _, b := range all.Bulk {
		foreign += b.OthersCPU
		total += b.OthersCPU
		for _, seconds := range b.CPU {
			total += seconds
		}
	}
	if share := foreign / total; share > 0.05 {
		r.Notes = append(r.Notes, fmt.Sprintf("The machine was not quiet: %.0f %% of the CPU time went to other processes.", 100*share))
	}
}

func (r results) of(s side) []bulk {
	var list []bulk
	for _, b := range r.Bulk {
		if b.Side == s {
			list = append(list, b)
		}
	}
	return list
}

// mean is nil if there is nothing to take it of.
func (r results) mean(s side, of func(bulk) float64) *float64 {
	list := r.of(s)
	if len(list) == 0 {
		return nil
	}
	var sum float64
	for _, b := range list {
		sum += of(b)
	}
	sum /= float64(len(list))
	return &sum
}

func (r results) otherRequests(s side) string {
	sum := requestCounts{}
	for _, b := range r.of(s) {
		for kind, n := range account(b.counts).Other {
			sum[kind] += n
		}
	}
	var words []string
	for _, request := range sum.list() {
		words = append(words, fmt.Sprintf("%s %d", request.requestKind, request.Count))
	}
	return strings.Join(words, ", ")
}

func printReport(w io.Writer, o options, r report) error {
	if o.output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", renderTable(r.Rows), strings.Join(r.Notes, "\n"))
	return err
}

// renderTable returns a Markdown table that is aligned in a terminal too.
func renderTable(rows []row) string {
	cells := [][]string{{"", "ours", "built-in", "ours/built-in", "target", "met"}}
	for _, r := range rows {
		cells = append(cells, []string{r.What, number(r.Ours, r.digits), number(r.BuiltIn, r.digits), r.ratio(), r.target(), r.verdict()})
	}
	return alignTable(cells)
}

func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

func (r row) ratio() string {
	if r.Ours == nil || r.BuiltIn == nil || *r.BuiltIn == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", *r.Ours / *r.BuiltIn)
}

func (r row) target() string {
	switch {
	case r.Target == nil:
		return ""
	case r.Target.Below:
		return fmt.Sprintf("< %g", r.Target.Limit)
	case r.Target.Limit == 0:
		return "0"
	}
	return fmt.Sprintf("<= %g", r.Target.Limit)
}

func (r row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case *r.Met:
		return "yes"
	}
	return "missed"
}
