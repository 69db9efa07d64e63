//go:build unix

package main

import (
	"fmt"
	"slices"
)

func newReport(r results) report {
	out := report{Notes: []string{r.Machine + "."}}
	for _, s := range []shape{{1, false}, {10, true}} {
		out.addLatency(r.Latency, s, "", "")
	}
	out.addSmall(r.Small)
	out.addThroughput(r.Bulk, r.Pods)
	out.addFloor(r.Bulk, fmt.Sprintf("%d indexes: ", r.Pods), nil)
	out.addLatency(r.Beside, shape{0, false}, fmt.Sprintf(" beside %d indexes", r.HugePods), "SCL-09")
	out.addHuge(r.Huge, r.HugePods)
	out.addMany(r.Many)
	out.addIdle(r.Idle)
	noisy := slices.Concat(r.Bulk, r.Huge)
	for _, m := range r.Many {
		noisy = append(noisy, m.bulk)
	}
	if r.Giant != nil {
		out.addGiant(*r.Giant)
		noisy = append(noisy, r.Giant.Floor, r.Giant.Ours)
	}
	out.noteNoise(noisy)
	return out
}

func (r *report) add(id, what string, digits int, ours, builtIn *float64, t *target) {
	r.Rows = append(r.Rows, row{What: what, ID: id, Ours: ours, BuiltIn: builtIn, Target: t, digits: digits})
}

// addLatency adds the Jobs of a shape; where describes the other load, "" for none.
func (r *report) addLatency(all []latency, shape shape, where, id string) {
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
		r.add(id, fmt.Sprintf("%s%s, create to Complete: %s, ms", shape, where, p.name), 0,
			percentile(times[ours], p.percent), percentile(times[builtIn], p.percent), t)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s%s: Jobs per controller: %d.", shape, where, len(times[ours])))
	if lowest := percentile(times[floor], 50); lowest != nil {
		p50 := func(s side) *float64 { return multiple(percentile(times[s], 50), *lowest) }
		r.add("", fmt.Sprintf("%s: p50 / floor (%.0f ms)", shape, *lowest), 2, p50(ours), p50(builtIn), &target{Limit: 2})
		r.note(shape.String() + ": the floor is a bare client that makes the same writes as our controller, one after the other.")
	}
}

// addThroughput adds the means over all rounds.
func (r *report) addThroughput(all bulks, pods int) {
	if len(all.of(ours)) == 0 {
		return
	}
	n := float64(pods)
	add := func(id, what string, digits int, t *target, of func(bulk) float64) {
		r.add(id, what, digits, all.mean(ours, of), all.mean(builtIn, of), t)
	}
	counted := func(of func(accounting) int, per float64) func(bulk) float64 {
		return func(b bulk) float64 { return float64(of(account(b.Requests))) / per }
	}
	add("", fmt.Sprintf("%d indexes, create to Complete, s", pods), 2, nil, bulk.seconds)
	add("SCL-03", "pods: POST, per pod", 3, &target{Limit: 1}, counted(func(a accounting) int { return a.Create }, n))
	add("SCL-03", "pods: PATCH (finalizer), per pod", 3, &target{Limit: 1}, counted(func(a accounting) int { return a.Release }, n))
	add("SCL-03", "pods: DELETE", 1, &target{}, counted(func(a accounting) int { return a.Delete }, 1))
	add("SCL-03", "all but status and events, per pod", 3, &target{Limit: 2}, counted(accounting.podRequests, n))
	add("", "jobs/status: PUT", 1, nil, counted(func(a accounting) int { return a.Status }, 1))
	add("SCL-03", "jobs/status: PUT, % of pods", 2, &target{Limit: 1}, counted(func(a accounting) int { return a.Status }, n/100))
	add("", "events: writes", 1, nil, counted(func(a accounting) int { return a.Events }, 1))
	r.Notes = append(r.Notes, fmt.Sprintf("%d indexes: means; Jobs per controller, in turns: %d.", pods, len(all.of(ours))))
	for _, s := range []side{ours, builtIn} {
		if others := all.otherRequests(s); others != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("Other requests about pods and Jobs, %s, %d Jobs together: %s.", s, len(all.of(s)), others))
		}
	}
	r.addProcesses(all, "", nil, nil)
}

// addProcesses compares our process with the whole of kube-controller-manager, as its Job controller cannot be measured
// separately.
func (r *report) addProcesses(all bulks, where string, mostCPU, mostMemory *target) {
	if len(all[0].CPU) == 0 {
		return
	}
	cpuID, memoryID := "", ""
	if mostMemory != nil {
		cpuID, memoryID = "SCL-04", "SCL-11"
	}
	peak := func(name string) func(bulk) float64 {
		return func(b bulk) float64 { return float64(b.Peak[name]) / 1e6 }
	}
	r.add(cpuID, where+"CPU of the controller, s", 2, all.mean(ours, cpuOf(procOurs)), all.mean(builtIn, cpuOf(procManager)), mostCPU)
	r.add("", where+"CPU of kube-controller-manager, s", 2, all.mean(ours, cpuOf(procManager)), all.mean(builtIn, cpuOf(procManager)), nil)
	r.add("", where+"CPU of kube-apiserver, s", 2, all.mean(ours, cpuOf(procServer)), all.mean(builtIn, cpuOf(procServer)), nil)
	r.add(memoryID, where+"peak RSS of the controller, MB", 0, all.mean(ours, peak(procOurs)), all.mean(builtIn, peak(procManager)), mostMemory)
	r.note("CPU and memory of the built-in controller are those of the whole kube-controller-manager, whose garbage collector and others follow our pods too. Ours has the environment of its Deployment (GOMAXPROCS, GOGC).")
}

func (r *report) addFloor(all bulks, where string, t *target) {
	lowest := all.mean(floor, bulk.seconds)
	if lowest == nil {
		return
	}
	id, digits := "", 2
	if t != nil {
		id, digits = "SCL-04", 3
	}
	r.add(id, fmt.Sprintf("%stime / floor (%.2f s)", where, *lowest), digits,
		multiple(all.mean(ours, bulk.seconds), *lowest), multiple(all.mean(builtIn, bulk.seconds), *lowest), t)
	r.addFloorCPU(all, where)
	note := where + "the floor is a bare client that creates the same pods and strips the finalizer of each as it succeeds"
	if cpu := all.mean(floor, cpuOf(procServer)); *cpu > 0 {
		note += fmt.Sprintf("; kube-apiserver used %.2f s of CPU for that", *cpu)
	}
	r.note(note + ".")
}

// mostOverFloorCPU is the target for the CPU of our process, as a multiple of the bare client's.
const mostOverFloorCPU = 1.3

// addFloorCPU compares the controllers with the floor process, which makes the same calls and reads the same pod events
// with the same libraries.
func (r *report) addFloorCPU(all bulks, where string) {
	lowest := all.mean(floor, cpuOf(procFloor))
	if *lowest == 0 {
		return
	}
	r.add("", fmt.Sprintf("%sCPU of the controller / bare client (%.2f s)", where, *lowest), 2,
		multiple(all.mean(ours, cpuOf(procOurs)), *lowest), multiple(all.mean(builtIn, cpuOf(procManager)), *lowest), &target{Limit: mostOverFloorCPU})
}

// note adds a note unless it exists.
func (r *report) note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// noteNoise adds a warning if other processes used more than 5 % of the CPU time.
func (r *report) noteNoise(all bulks) {
	var foreign, total float64
	for _, b := range all {
		foreign += b.OthersCPU
		total += b.OthersCPU
		for _, seconds := range b.CPU {
			total += seconds
		}
	}
	if share := foreign / total; share > 0.05 {
		r.note(fmt.Sprintf("The machine was not quiet: %.0f %% of the CPU time went to other processes.", 100*share))
	}
}

// bulks are large Jobs of all sides.
type bulks []bulk

func (b bulk) seconds() float64 { return b.Seconds }

func cpuOf(process string) func(bulk) float64 { return func(b bulk) float64 { return b.CPU[process] } }

func (all bulks) of(s side) bulks {
	var list bulks
	for _, b := range all {
		if b.Side == s {
			list = append(list, b)
		}
	}
	return list
}

// mean returns the mean of a value, nil without runs.
func (all bulks) mean(s side, of func(bulk) float64) *float64 {
	list := all.of(s)
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

func (all bulks) otherRequests(s side) string {
	sum := requestCounts{}
	for _, b := range all.of(s) {
		for kind, n := range account(b.Requests).Other {
			sum[kind] += n
		}
	}
	return sum.String()
}

// addHuge adds the project's targets for a Job of 10,000 pods.
func (r *report) addHuge(all bulks, pods int) {
	if len(all) == 0 {
		return
	}
	where := fmt.Sprintf("%d indexes: ", pods)
	perPod := func(b bulk) float64 { return float64(account(b.Requests).all()) / float64(pods) }
	r.add("SCL-04", where+"create to Complete, s", 1, all.mean(ours, bulk.seconds), all.mean(builtIn, bulk.seconds), nil)
	r.addFloor(all, where, &target{Limit: 1.03})
	r.add("SCL-03", where+"requests per pod, status and events too", 4, all.mean(ours, perPod), all.mean(builtIn, perPod), &target{Limit: 2.01})
	r.addProcesses(all, where, &target{Limit: 10, Below: true}, &target{Limit: 120, Below: true})
	r.note(fmt.Sprintf("%smeans; Jobs per controller, in turns: %d.", where, len(all.of(ours))))
}
