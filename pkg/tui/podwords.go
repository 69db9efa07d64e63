package tui

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// statePodTerminating is that of a pod that is being deleted, see explain.Pod.State.
const statePodTerminating = "Terminating"

// podState is the state with its mark.
func podState(p *paint, pod *explain.PodInfo) layout.Line {
	mark, style := podLook(p, pod.Phase, pod.State)
	state := pod.State
	if pod.Ready && state == string(corev1.PodRunning) {
		state = "Running, ready"
	}
	return layout.Of(layout.Text(style, mark+" "+state))
}

// podLook is the mark and the style of a pod.
func podLook(p *paint, phase, state string) (mark string, style styleOf) {
	switch {
	case state == statePodTerminating:
		return p.glyphs.Ending, styleSpecial
	case phase == string(corev1.PodFailed):
		return p.glyphs.Bad, styleBad
	case phase == string(corev1.PodSucceeded):
		return p.glyphs.Good, styleGood
	case state == string(corev1.PodRunning):
		return p.glyphs.Running, styleInfo
	case state == string(corev1.PodPending), state == "ContainerCreating", state == "PodInitializing", state == "":
		return p.glyphs.Dot, styleMuted
	}
	return p.glyphs.Warn, styleWarn
}

// podWhen is when the pod ended, or since when it is there, or when its grace period ends.
func podWhen(p *paint, pod *explain.PodInfo) layout.Line {
	switch {
	case !pod.GraceEnds.IsZero() && pod.State == statePodTerminating:
		return graceLeft(p, pod.GraceEnds.Time)
	case !pod.Ended.IsZero() && p.absolute:
		return layout.Plainly("ended " + p.when(pod.Ended))
	case !pod.Ended.IsZero():
		return layout.Plainly(p.when(pod.Ended))
	case pod.Created.IsZero():
		return layout.Of(layout.Text(styleMuted, "-"))
	case p.absolute:
		return layout.Plainly("since " + p.clock(pod.Created.Time))
	}
	return layout.Plainly("for " + wording.Duration(max(0, p.now.Sub(pod.Created.Time))))
}

// graceLeft is the time until a terminating pod is killed; one that should have ended is bad.
func graceLeft(p *paint, ends time.Time) layout.Line {
	overdue := p.now.Sub(ends) >= time.Second
	switch {
	case overdue && p.absolute:
		return layout.Of(layout.Text(styleBad|bold, "due "+p.countdown(ends)))
	case overdue:
		return layout.Of(layout.Text(styleBad|bold, p.countdown(ends)))
	}
	return layout.Of(layout.Text(styleSpecial, "ends "+p.countdown(ends)))
}

// podRule is the rule of the podFailurePolicy that a failed pod matched, short for a table,
// and nothing for other pods. Its action stands in a column of its own.
func podRule(r *explain.Report, pod *explain.PodInfo) layout.Line {
	switch {
	case pod.Rule != nil:
		return layout.Of(layout.Text(styleAccent, strings.TrimSpace(fmt.Sprintf("%d %s", *pod.Rule, ruleName(r, *pod.Rule)))))
	case pod.Phase != string(corev1.PodFailed):
		return nil
	case r.FailurePolicy == nil:
		return layout.Of(layout.Text(styleMuted, "no policy"))
	}
	return layout.Of(layout.Text(styleMuted, "no rule"))
}

// podVerdict is podRule in a sentence, with what the failure counts against.
func podVerdict(r *explain.Report, pod *explain.PodInfo) layout.Line {
	var l layout.Line
	switch {
	case pod.Phase != string(corev1.PodFailed):
		return nil
	case pod.Rule != nil:
		l = layout.Of(layout.Text(styleAccent, ruleTitle(*pod.Rule, ruleName(r, *pod.Rule))), layout.Text(stylePlain, " matched: "),
			layout.Text(actionStyle(pod.Action), pod.Action))
		if pod.Action != actionCount {
			return l
		}
		l = append(l, layout.Text(stylePlain, ", "))
	case r.FailurePolicy != nil:
		l = layout.Of(layout.Text(stylePlain, "no rule matched: "))
	}
	return append(l, layout.Text(stylePlain, countedAgainst(r, pod)))
}

// The actions of rules.
const (
	actionCount  = "Count"
	actionIgnore = "Ignore"
)

func actionStyle(action string) styleOf {
	switch action {
	case actionCount:
		return stylePlain
	case actionIgnore:
		return styleMuted
	}
	return styleBad
}

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

// podCounted is PodInfo.Counted in a word.
func podCounted(pod *explain.PodInfo) string {
	switch pod.Counted {
	case explain.Counted:
		return "yes"
	case explain.Recorded:
		return "recorded"
	case explain.NotCounted:
		return "no"
	case explain.AwaitsReplacement:
		return "with next pod"
	}
	return pod.Counted
}

// ruleName is that of a rule of the podFailurePolicy, "" if it has none.
func ruleName(r *explain.Report, index int32) string {
	if r.FailurePolicy == nil {
		return ""
	}
	for i := range r.FailurePolicy.Rules {
		if r.FailurePolicy.Rules[i].Index == index {
			return r.FailurePolicy.Rules[i].Name
		}
	}
	return ""
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
		l := layout.Of(layout.Text(styleWarn, p.glyphs.Warn+" "+gaps[i].Text))
		if gaps[i].Command != "" {
			l = append(l, layout.Text(styleMuted, "  "+gaps[i].Command))
		}
		out = append(out, p.wrap(l, 2)...)
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
