package pods

import (
	"fmt"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	keyNextPod     = widget.Bind("n", "next pod", "n")
	keyPreviousPod = widget.Bind("N", "previous pod", "N")
)

// FailedLogs is a screen with the logs of all failed pods of a Job, one below the other.
type FailedLogs struct{ *logsPane }

// NewFailedLogs returns a screen with the logs of all failed pods of a Job.
func NewFailedLogs(job types.NamespacedName) screen.Screen {
	target := snapshot.LogTarget{Failed: true}
	return FailedLogs{&logsPane{pod: &podScreen{job: job}, target: target, wraps: true, filter: widget.Filter{ByRegexp: true}}}
}

// Focus returns the Job and the logs; no pod is open.
func (s FailedLogs) Focus() snapshot.Focus {
	target := s.target
	return snapshot.Focus{Job: s.pod.job, Log: &target}
}

// Crumb returns the name of the Job, which is below the list in the path.
func (s FailedLogs) Crumb() string { return s.pod.job.Name + " failed pods" }

// jump scrolls to the lines of the next failed pod, or with -1 of the previous one.
func (o *logsPane) jump(by int, d *screen.Data) {
	log := o.log(d)
	if log == nil || o.paint == nil {
		return
	}
	l := o.layout(o.paint, log)
	if len(l.starts) == 0 {
		return
	}
	start, at := l.start(), l.current()
	if by > 0 || o.at != "" || l.starts[at] == start.line && start.part == 0 {
		at = max(0, min(at+by, len(l.starts)-1))
	}
	first := l.shown[l.starts[at]]
	o.follows, o.at, o.place = false, log.Lines[first].Pod, logPlace{line: int(first) + log.Dropped}
}

// current returns the pod that n or N has chosen, or else of the first line on the screen, as an index of starts.
func (l *logLayout) current() int {
	for i, start := range l.starts {
		if l.log.Lines[l.shown[start]].Pod == l.pane.at {
			return i
		}
	}
	line := l.start().line
	return max(0, sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > line })-1)
}

// whichPod returns the number of the current pod.
func (l *logLayout) whichPod() layout.Line {
	if len(l.starts) == 0 {
		return nil
	}
	return layout.Of(layout.Textf(layout.Accent, "  pod %d of %d", l.current()+1, len(l.starts)))
}

// prefix returns the name of a pod before one of its lines. Pods that follow each other differ in color.
func (l *logLayout) prefix(pod string) layout.Line {
	sum := 0
	for i := range len(pod) {
		sum += int(pod[i])
	}
	colors := [...]layout.Style{layout.Accent, layout.Special, layout.Info, layout.Good, layout.Warn}
	style := colors[sum%len(colors)]
	if pod == l.pane.at {
		style |= layout.Reverse
	}
	width := min(l.widest, l.p.Width/2)
	return append(l.p.Cut(layout.Of(layout.Text(style, pod)), width).Pad(width), layout.Blank(1))
}

// missing says why there are no logs of some failed pods, one line for each reason.
func (o *logsPane) missing(p *widget.Paint, log *snapshot.Log, r *explain.Report) (lines []layout.Line) {
	reasons := strings.FieldsFunc(log.Why, func(c rune) bool { return c == '\n' })
	if r != nil && r.Counts.FailedPods != nil {
		counts := &r.Counts // Pods that the Job stopped have not failed.
		if gone := counts.Failed - counts.StoppedFailures - (*counts.FailedPods - counts.StoppedPods); gone > 0 {
			reasons = append(reasons, wording.Plural(gone, "failed pod is gone, along with its log.", "failed pods are gone, along with their logs."))
		}
	}
	for _, reason := range reasons {
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Warn, p.Glyphs.Warn+" "+reason)), 2)...)
	}
	switch {
	case !log.Ended:
		lines = append(lines, layout.Of(layout.Text(layout.Muted, "Reading the logs"+p.Glyphs.More)))
	case len(log.Lines) > 0:
		lines = append(lines, layout.Of(layout.Text(layout.Muted, fmt.Sprintf("%s End of the logs.", p.Glyphs.Rule))))
	case len(reasons) == 0:
		lines = append(lines, layout.Of(layout.Text(layout.Muted, "No pod of the Job has failed.")))
	}
	return lines
}
