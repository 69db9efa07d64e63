package tui

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// podWhen is when the pod ended, or since when it is there, or when its grace period ends.
func podWhen(p *paint, pod *explain.PodInfo) layout.Line {
	switch {
	case !pod.GraceEnds.IsZero() && pod.State == section.PodTerminating:
		return graceLeft(p, pod.GraceEnds.Time)
	case !pod.Ended.IsZero() && p.Absolute:
		return layout.Plainly("ended " + p.When(pod.Ended))
	case !pod.Ended.IsZero():
		return layout.Plainly(p.When(pod.Ended))
	case pod.Created.IsZero():
		return layout.Of(layout.Text(layout.Muted, "-"))
	case p.Absolute:
		return layout.Plainly("since " + p.Clock(pod.Created.Time))
	}
	return layout.Plainly("for " + wording.Duration(max(0, p.Now.Sub(pod.Created.Time))))
}

// graceLeft is the time until a terminating pod is killed; one that should have ended is bad.
func graceLeft(p *paint, ends time.Time) layout.Line {
	overdue := p.Now.Sub(ends) >= time.Second
	switch {
	case overdue && p.Absolute:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, "due "+p.Countdown(ends)))
	case overdue:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, p.Countdown(ends)))
	}
	return layout.Of(layout.Text(layout.Special, "ends "+p.Countdown(ends)))
}

// podRule is the rule of the podFailurePolicy that a failed pod matched, short for a table,
// and nothing for other pods. Its action stands in a column of its own.
func podRule(r *explain.Report, pod *explain.PodInfo) layout.Line {
	switch {
	case pod.Rule != nil:
		return layout.Of(layout.Text(layout.Accent, strings.TrimSpace(fmt.Sprintf("%d %s", *pod.Rule, section.RuleName(r, *pod.Rule)))))
	case pod.Phase != string(corev1.PodFailed):
		return nil
	case r.FailurePolicy == nil:
		return layout.Of(layout.Text(layout.Muted, "no policy"))
	}
	return layout.Of(layout.Text(layout.Muted, "no rule"))
}

// podVerdict is podRule in a sentence, with what the failure counts against.
func podVerdict(r *explain.Report, pod *explain.PodInfo) layout.Line {
	var l layout.Line
	switch {
	case pod.Phase != string(corev1.PodFailed):
		return nil
	case pod.Rule != nil:
		l = layout.Of(layout.Text(layout.Accent, section.RuleLabel(pod.Rule, section.RuleName(r, *pod.Rule))), layout.Text(layout.Plain, " matched: "),
			layout.Text(section.ActionStyle(pod.Action), pod.Action))
		if pod.Action != actionCount {
			return l
		}
		l = append(l, layout.Text(layout.Plain, ", "))
	case r.FailurePolicy != nil:
		l = layout.Of(layout.Text(layout.Plain, "no rule matched: "))
	}
	return append(l, layout.Text(layout.Plain, countedAgainst(r, pod)))
}

// The actions of rules.
const (
	actionCount  = "Count"
	actionIgnore = "Ignore"
)

// countedAgainst is "counted against backoffLimit", or why it is not yet.
func countedAgainst(r *explain.Report, pod *explain.PodInfo) string {
	limit := "backoffLimit"
	if r.Job.BackoffLimitPerIndex != nil {
		limit = "backoffLimitPerIndex"
	}
	switch pod.Counted {
	case explain.Recorded:
		return "recorded, about to be counted against " + limit
	case explain.NotCounted:
		return "not counted yet against " + limit
	case explain.AwaitsReplacement:
		return "to be counted against " + limit + " with the next pod"
	}
	return "counted against " + limit
}

// failureText is why a pod failed: as a value, if more is known than the words of others.
type failureText struct {
	failure *cause.Failure
	text    string
}

// container is the one that failed, "" if none is known.
func (f failureText) container() string {
	if f.failure == nil {
		return ""
	}
	return f.failure.Container
}

// brief leaves out the container: "exit 137 OOMKilled".
func (f failureText) brief() string {
	if f.failure == nil {
		return f.text
	}
	return f.failure.Short()
}

// short is "exit 137 OOMKilled (main)": what tells causes apart comes first.
func (f failureText) short() string {
	if container := f.container(); container != "" {
		return f.brief() + " (" + container + ")"
	}
	return f.brief()
}

// briefCauses are causes in short, with the container where that is not always the same.
func briefCauses(causes []failureText) []string {
	containers := map[string]bool{}
	for _, c := range causes {
		containers[c.container()] = true
	}
	delete(containers, "")
	out := make([]string, len(causes))
	for i, c := range causes {
		switch {
		case c.container() == "":
			out[i] = wording.Sentence(c.brief())
		case len(containers) > 1:
			out[i] = c.short()
		default:
			out[i] = c.brief()
		}
	}
	return out
}

// gapLines are what could not be read.
func gapLines(p *paint, gaps []explain.Gap) []layout.Line {
	var out []layout.Line
	for i := range gaps {
		l := layout.Of(layout.Text(layout.Warn|layout.Bold, p.Glyphs.Warn+" "), layout.Text(layout.Plain, wording.Sentence(gaps[i].Text)))
		if gaps[i].Command != "" {
			l = append(l, layout.Text(layout.Muted, "  "+gaps[i].Command))
		}
		out = append(out, p.Wrap(l, 2)...)
	}
	return out
}

// numberOf is a number, or nothing for none.
func numberOf(n *int32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
