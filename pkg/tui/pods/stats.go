package pods

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// stats are counts and widths over all pods of a Report.
type stats struct {
	of *explain.Report
	// failed, stopped, waiting, ending, running and succeeded count pods.
	failed, stopped, waiting, ending, running, succeeded int

	// indexed, attempts and actions are set if pods have these values.
	indexed, attempts, actions bool
	name, state, rule, node    int
	// cause has the widths of the longest cause, short and in full.
	cause [2]int
	// prefixed is set if all names of pods start with the name of the Job, which may be too long for that.
	prefixed bool
	// oneContainer is set if all causes are about the same container, which then is not shown.
	oneContainer bool
	container    string
	// when has the widths of the longest time: relative, and absolute.
	when [2]int
	// earliest is the earliest creation time.
	earliest time.Time
}

func (f *stats) derive(r *explain.Report, p *widget.Paint) {
	if f.of == r {
		return
	}
	*f = stats{of: r, prefixed: true}
	for i := range r.Pods {
		pod := &r.Pods[i]
		f.add(pod)
		f.prefixed = f.prefixed && strings.HasPrefix(pod.Name, r.Job.Name)
	}
	f.rule = ruleWidth(r)
	f.readCauses(r)
	f.when = [2]int{len("59m59s ago"), len("ends at ") + len(p.Clock(p.Now))}
	if !f.earliest.IsZero() {
		f.when[1] = max(f.when[1], len("since ")+len(p.Clock(f.earliest)))
	}
}

func (f *stats) add(pod *explain.PodInfo) {
	switch {
	case pod.State == section.PodTerminating:
		f.ending++
	case pod.Stopped != "":
		f.stopped++
		f.state = max(f.state, len("x ")+len(section.PodStopped))
	case pod.Phase == string(corev1.PodFailed):
		f.failed++
	case pod.Phase == string(corev1.PodSucceeded):
		f.succeeded++
	case pod.State == string(corev1.PodRunning):
		f.running++
	default:
		f.waiting++
	}
	f.indexed = f.indexed || pod.Index != nil
	f.attempts = f.attempts || pod.Attempt > 0
	f.actions = f.actions || pod.Action != ""
	f.name = max(f.name, widget.Width(pod.Name))
	f.state = max(f.state, widget.Width(pod.State)+len("x "))
	if pod.Ready {
		f.state = max(f.state, len("x Running, ready"))
	}
	f.node = max(f.node, widget.Width(pod.Node))
	if !pod.Created.IsZero() && (f.earliest.IsZero() || pod.Created.Time.Before(f.earliest)) {
		f.earliest = pod.Created.Time
	}
}

// readCauses measures the causes, of which few are distinct, and determines whether all causes that name a container name the
// same one.
func (f *stats) readCauses(r *explain.Report) {
	f.oneContainer = true
	seen := map[string]bool{"": true}
	full, short, brief := 0, 0, 0
	for i := range r.Pods {
		cause := r.Pods[i].Cause
		if seen[cause] {
			continue
		}
		seen[cause] = true
		known := FailureText{r.Pods[i].Failure, cause}
		full, short, brief = max(full, widget.Width(cause)), max(short, widget.Width(known.short())), max(brief, widget.Width(known.brief()))
		if container := known.container(); container != "" {
			f.oneContainer = f.oneContainer && (f.container == "" || f.container == container)
			f.container = container
		}
	}
	f.cause = [2]int{short, full}
	if f.oneContainer {
		f.cause[0] = brief
	}
}

// ruleWidth returns the width of the widest ruleCell, which is computed once for pods with the same rule.
func ruleWidth(r *explain.Report) int {
	type entry struct {
		rule          int32
		action, phase string
	}
	width, seen := 0, map[entry]bool{}
	for i := range r.Pods {
		pod := &r.Pods[i]
		key := entry{rule: -1, action: pod.Action, phase: pod.Phase}
		if pod.Rule != nil {
			key.rule = *pod.Rule
		}
		if !seen[key] {
			seen[key] = true
			width = max(width, ruleCell(r, pod).Width())
		}
	}
	return width
}

// counts returns the number of pods in each state, starting with states that need attention.
func (f *stats) counts(p *widget.Paint) layout.Line {
	var l layout.Line
	add := func(n int, phase corev1.PodPhase, state, what string) {
		if n > 0 {
			mark, style := section.PodMark(&p.Frame, string(phase), state)
			l = append(l, layout.Text(style, mark+" "+wording.Count(n, what)))
		}
	}
	add(f.failed, corev1.PodFailed, "", "failed")
	add(f.waiting, corev1.PodPending, "Pending", "pending")
	add(f.ending, corev1.PodRunning, section.PodTerminating, "terminating")
	add(f.running, corev1.PodRunning, string(corev1.PodRunning), "running")
	add(f.succeeded, corev1.PodSucceeded, "", "succeeded")
	add(f.stopped, corev1.PodPending, "", "stopped by the Job")
	return l
}
