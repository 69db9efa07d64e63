package joblist

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
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

// progressBar is the state of the pods of a Job, in width columns.
func progressBar(p *widget.Paint, o *explain.Outline, width int) layout.Line {
	marks := [parts]string{partDone: "█", partActive: "▒", partTerminating: "~", partFailed: "✗", partRest: "·"}
	if p.ASCII {
		marks = [parts]string{partDone: "#", partActive: "=", partTerminating: "~", partFailed: "x", partRest: "."}
	}
	styles := [parts]layout.Style{partDone: layout.Good, partActive: layout.Info, partTerminating: layout.Special, partFailed: layout.Bad, partRest: layout.Muted}
	cells := share(partsOf(o), width)
	l := make(layout.Line, 0, parts)
	for part, n := range cells {
		if n > 0 {
			l = append(l, layout.Text(styles[part], strings.Repeat(marks[part], n)))
		}
	}
	return l
}

// partsOf are how many of the completions have ended well, run, are being stopped, have
// failed, and are to come. Without completions (a work queue) the pods are the whole.
func partsOf(o *explain.Outline) [parts]int64 {
	at := [parts]int64{partDone: int64(max(0, o.Succeeded)), partActive: int64(max(0, o.Active))}
	if o.Terminating != nil {
		at[partTerminating] = int64(max(0, *o.Terminating))
	}
	total := at[partDone] + at[partActive] + at[partTerminating]
	failed := int64(max(0, o.Failed))
	if o.Completions != nil {
		total = max(total, int64(*o.Completions))
	} else if failed > 0 && total == 0 {
		total = 1
	}
	// A failed pod of a Job without failed indexes is replaced. It takes no completion away, and
	// is shown as a part of what is still to come.
	if o.FailedIndexes != nil {
		failed = int64(o.FailedIndexCount)
	}
	at[partRest] = max(0, total-at[partDone]-at[partActive]-at[partTerminating])
	at[partFailed] = min(failed, at[partRest])
	at[partRest] -= at[partFailed]
	return at
}

// share divides width columns in proportion to the parts. A part that is not empty has at
// least one column, if there are enough, and only a part that is everything has all.
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
