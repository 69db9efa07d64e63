// Package pods implements the list of a Job's pods, and the screen of one pod or index: its attempts, and the tabs Pod, Logs
// and Events.
package pods

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// podText shows the chosen pod: its state, its containers, its conditions.
func (s *podScreen) podText(p *widget.Paint, d *screen.Data) []layout.Line {
	r, pod := s.report(d), s.detail(d)
	at := s.attempts.at(s.pod)
	gone := s.pod != "" && at < len(s.attempts.known) && s.attempts.known[at].gone
	switch {
	case s.pod == "":
		return append(s.noPod(p, r), knownWithoutPods(p, r, s.index, "")...)
	case pod == nil && gone:
		lines := p.Wrap(layout.Plainly("The pod is gone."), 0)
		return append(lines, knownWithoutPods(p, r, s.index, s.pod)...)
	case pod == nil:
		return d.Waiting(p, "Reading pod "+s.pod)
	}
	lines := podHead(p, pod)
	if at < len(s.attempts.known) {
		lines = append(lines, s.verdictLines(p, r, &s.attempts.known[at].PodInfo)...)
	}
	for i := range pod.Containers {
		lines = append(lines, containerLines(p, &pod.Containers[i])...)
	}
	lines = append(lines, conditionLines(p, pod.Conditions)...)
	if pod.Gone {
		lines = append(lines, knownWithoutPods(p, r, s.index, s.pod)...)
	}
	return lines
}

// verdictLines returns the cause of the pod's failure and its consequence in full, because the table above may cut them.
func (s *podScreen) verdictLines(p *widget.Paint, r *explain.Report, pod *explain.PodInfo) []layout.Line {
	verdict := verdict(r, pod)
	if len(verdict) == 0 {
		return nil
	}
	l := layout.Of(layout.Text(layout.Bad, cmp.Or(pod.Cause, pod.State)), layout.Text(layout.Muted, ": "))
	return p.Wrap(append(l, verdict...), 2)
}

// noPod says why an index has no pod to show.
func (s *podScreen) noPod(p *widget.Paint, r *explain.Report) []layout.Line {
	text := "The pod no longer exists."
	switch {
	case s.index == nil:
	case len(podGaps(r)) > 0:
		text = fmt.Sprintf("The pods of index %d could not be read.", *s.index)
	case screen.IndexInfo(r, *s.index) == nil && !listHas(r.Indexes.Completed, *s.index) && !listHas(r.Indexes.Failed, *s.index):
		text = fmt.Sprintf("Index %d has no pod yet.", *s.index)
	default:
		text = fmt.Sprintf("The pods of index %d no longer exist.", *s.index)
	}
	lines := append([]layout.Line{nil}, p.Wrap(layout.Plainly(text), 0)...)
	return append(lines, screen.Gaps(p, podGaps(r))...)
}

// podHead returns the name, the state and the node.
func podHead(p *widget.Paint, pod *explain.PodDetail) []layout.Line {
	mark, style := section.PodMark(&p.Frame, pod.Phase, pod.State)
	l := layout.Of(layout.Text(layout.Bold, pod.Name), layout.Blank(2))
	if pod.Gone {
		l = append(l, layout.Text(layout.Bad|layout.Bold, "gone"), layout.Text(layout.Muted, ", shown as last read  "))
	}
	if pod.State != "" {
		l = append(l, layout.Text(style, mark+" "+pod.State), layout.Blank(2))
	}
	if pod.Node != "" {
		l = append(l, layout.Text(layout.Muted, "on node "), layout.Text(layout.Plain, pod.Node), layout.Blank(2))
	}
	if !pod.Created.IsZero() {
		l = append(l, layout.Text(layout.Muted, "created "+p.When(pod.Created)))
	}
	lines := p.Wrap(l, 2)
	if pod.Reason+pod.Message != "" {
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Warn, wording.Join(": ", pod.Reason, pod.Message))), 2)...)
	}
	return append(lines, screen.Gaps(p, pod.Gaps)...)
}

// containerLines returns a container with its state and its previous run.
func containerLines(p *widget.Paint, c *explain.ContainerInfo) []layout.Line {
	what := "Container "
	if c.Init {
		what = "Init container "
	}
	note := c.Image
	if c.Restarts > 0 {
		note = wording.Join(", ", wording.Plural(c.Restarts, "restart", "restarts"), c.Image)
	}
	lines := []layout.Line{p.Title(what+c.Name, note)}
	lines = append(lines, runLines(p, "", &c.Now, c.Ready)...)
	if c.Before != nil {
		lines = append(lines, runLines(p, "previous run: ", c.Before, false)...)
	}
	return lines
}

// runLines returns one run of a container, with its message.
func runLines(p *widget.Paint, before string, run *explain.ContainerRun, ready bool) []layout.Line {
	mark, style := runLook(p, run)
	l := layout.Of(layout.Text(layout.Muted, before), layout.Text(style, mark+" "+runWords(run, ready)))
	if run.ExitCode != nil {
		if meaning := cause.Meaning(*run.ExitCode, run.Reason); meaning != "" {
			l = append(l, layout.Text(layout.Plain, ": "+meaning))
		}
	}
	l = append(l, layout.Text(layout.Muted, runTimes(p, run)))
	lines := p.Sized(p.Width-2, p.Height).Wrap(l, 2)
	for i := range lines {
		lines[i] = lines[i].Indent(2)
	}
	for text := range strings.Lines(run.Message) {
		text = layout.Readable(strings.TrimRight(text, "\r\n"))
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "  "+p.Glyphs.Quote+" "), layout.Text(layout.Plain, text)), 4)...)
	}
	return lines
}

func runLook(p *widget.Paint, run *explain.ContainerRun) (mark string, style layout.Style) {
	switch {
	case run.State == "Running":
		return p.Glyphs.Running, layout.Info
	case run.ExitCode != nil && *run.ExitCode == 0:
		return p.Glyphs.Good, layout.Good
	case run.State == "Terminated":
		return p.Glyphs.Bad, layout.Bad
	case run.State == "Waiting":
		return section.PodMark(&p.Frame, "", run.Reason)
	}
	return p.Glyphs.Dot, layout.Muted
}

// runWords returns, for example, "exit code 137 (OOMKilled)".
func runWords(run *explain.ContainerRun, ready bool) string {
	switch {
	case run.State == "":
		return "nothing is known of it yet"
	case run.ExitCode == nil && run.Reason != "":
		return run.State + " (" + run.Reason + ")"
	case run.ExitCode == nil && ready:
		return run.State + ", ready"
	case run.ExitCode == nil:
		return run.State
	}
	return "exit " + cause.CodeText(*run.ExitCode, run.Reason)
}

// runTimes returns when the run ended, and how long it took.
func runTimes(p *widget.Paint, run *explain.ContainerRun) string {
	switch {
	case !run.Ended.IsZero() && !run.Started.IsZero():
		return fmt.Sprintf(", took %s, ended %s", wording.Age(run.Ended.Sub(run.Started.Time)), p.When(run.Ended))
	case !run.Ended.IsZero():
		return ", ended " + p.When(run.Ended)
	case !run.Started.IsZero():
		return ", started " + p.When(run.Started)
	}
	return ""
}

// conditionLines returns the conditions of the pod.
func conditionLines(p *widget.Paint, conditions []explain.Condition) []layout.Line {
	if len(conditions) == 0 {
		return nil
	}
	lines := []layout.Line{p.Title("Conditions", "")}
	name := 0
	for i := range conditions {
		name = min(28, max(name, widget.Width(conditions[i].Type)))
	}
	for i := range conditions {
		c := &conditions[i]
		style := layout.Plain
		if c.Status != string(metav1.ConditionTrue) {
			style = layout.Muted
		}
		l := layout.Of(layout.Text(style, c.Type)).Pad(name)
		l = append(l, layout.Text(style, "  "+c.Status)).Pad(name + 9)
		if why := wording.Join(": ", c.Reason, c.Message); why != "" {
			l = append(l, layout.Text(layout.Plain, why+"  "))
		}
		if !c.Since.IsZero() {
			l = append(l, layout.Text(layout.Muted, p.When(c.Since)))
		}
		for _, part := range p.Sized(p.Width-2, p.Height).Wrap(l, name+9) {
			lines = append(lines, part.Indent(2))
		}
	}
	return lines
}
