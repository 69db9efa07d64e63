package section

import (
	"strings"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// The parts of a Job's bar.
const (
	partDone = iota
	partActive
	partTerminating
	partFailed
	partRest
	parts
)

// Progress counts the completions of a Job that have succeeded, are running, are being stopped, and can no longer succeed
// (failed indexes). Failed pods are not in it, as other pods replace them.
type Progress struct{ Done, Active, Terminating, FailedIndexes, Total int32 }

// ProgressOf returns the Progress of a Job in a list.
func ProgressOf(o *explain.Outline) Progress {
	done, total := o.Done()
	p := Progress{Done: done, Active: o.Active, FailedIndexes: o.FailedIndexCount}
	if o.Terminating != nil {
		p.Terminating = *o.Terminating
	}
	if total != nil {
		p.Total = *total
	}
	return p
}

// Progress returns the Progress of the Job of a Report.
func (c *PodCounts) Progress(r *explain.Report) Progress {
	p := Progress{Active: c.Active, Terminating: c.Terminating}
	if p.Done, p.Total = c.Done(r); r.Indexes != nil {
		p.FailedIndexes = r.Indexes.FailedCount
	}
	return p
}

// Bar draws the progress in width columns.
func (p Progress) Bar(f *Frame, width int) layout.Line {
	marks := [parts]string{partDone: "█", partActive: "▒", partTerminating: "~", partFailed: "✗", partRest: "·"}
	if f.ASCII {
		marks = [parts]string{partDone: "#", partActive: "=", partTerminating: "~", partFailed: "x", partRest: "."}
	}
	styles := [parts]layout.Style{partDone: layout.Good, partActive: layout.Info, partTerminating: layout.Special, partFailed: layout.Bad, partRest: layout.Muted}
	l := make(layout.Line, 0, parts)
	for part, n := range share(p.parts(), width) {
		if n > 0 {
			l = append(l, layout.Text(styles[part], strings.Repeat(marks[part], n)))
		}
	}
	return l
}

// parts returns the parts of the bar. Without completions (a work queue), the bar consists of the pods only.
func (p Progress) parts() [parts]int64 {
	var at [parts]int64
	used := int64(0)
	for part, n := range [partRest]int32{partDone: p.Done, partActive: p.Active, partTerminating: p.Terminating, partFailed: p.FailedIndexes} {
		at[part] = int64(max(0, n))
		used += at[part]
	}
	at[partRest] = max(0, int64(p.Total)-used)
	return at
}

// share divides width columns in proportion to the parts. Each nonzero part has at least one column if there are enough, and
// only a part that is the whole has all columns.
func share(of [parts]int64, width int) [parts]int {
	var total int64
	for _, n := range of {
		total += n
	}
	var out [parts]int
	if total == 0 {
		out[partRest] = width
		return out
	}
	used, widest := 0, 0
	for i, n := range of {
		out[i] = int(n * int64(width) / total)
		if n > 0 {
			out[i] = max(1, out[i])
		}
		used += out[i]
		if of[i] > of[widest] {
			widest = i
		}
	}
	out[widest] = max(0, out[widest]+width-used)
	return out
}

// PodCounts holds the numbers of pods by state, from the pods if they could be read: the status lags behind them.
type PodCounts struct {
	// Succeeded is for NonIndexed Jobs; for Indexed Jobs, see Report.Indexes.
	Succeeded int32
	Active    int32
	// Ready is negative if it is unknown.
	Ready, Terminating int32
}

// CountPods returns the numbers of a Job's pods.
func CountPods(r *explain.Report) PodCounts {
	c := &r.Counts
	return PodCounts{
		Succeeded: c.Completed, Active: ptr.Deref(c.ActivePods, c.Active),
		Ready:       ptr.Deref(c.ReadyPods, ptr.Deref(c.Ready, -1)),
		Terminating: ptr.Deref(c.TerminatingPods, ptr.Deref(c.Terminating, 0)),
	}
}

// Done returns the successes so far and the total, both without the indexes that a retry does not run. total is 0 for a work
// queue.
func (c *PodCounts) Done(r *explain.Report) (done, total int32) {
	switch x := r.Indexes; {
	case x != nil && x.Rerun > 0:
		return x.RerunCompleted, x.Rerun
	case x != nil:
		return x.CompletedCount, x.Total
	}
	if r.Job.Completions != nil {
		total = *r.Job.Completions
	}
	return c.Succeeded, total
}
