package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// shortPods is the number of pods that Part shows.
const shortPods = 4

// Part writes the answer about a part of the Job, a pod or some indexes, from a report on that part.
func Part(w io.Writer, r explain.Report, part explain.Options, o Options) error {
	v := &short{view: newView(&r, o), own: section.OwnCauses(&r)}
	v.page.Para(0, indentSection, v.partHeadline(part)...)
	if len(v.own) > 1 {
		v.causes()
	}
	job := labelOf("Job", layout.Plain, wording.Join(": ", r.Job.Name+" "+r.Verdict.State+v.time(), r.Verdict.Summary))
	v.labeled(indentSection, slices.Concat(job, v.partPods(part), v.log(), v.unread()))
	v.labeled(0, append(v.toDo(), v.more()...))
	return v.page.writeTo(w)
}

// partHeadline returns "✗ index 49 of big failed twice: container main exited with code 3".
func (v *short) partHeadline(part explain.Options) layout.Line {
	subject, state := v.podState(part.Pod)
	if part.Pod == "" {
		subject, state = v.indexState(part)
	}
	mark, style := v.page.Glyphs.Warn, layout.Warn
	switch {
	case strings.HasPrefix(state, "failed"):
		mark, style = v.page.Glyphs.Bad, layout.Bad
	case state == "completed" || state == "succeeded":
		mark, style = v.page.Glyphs.Good, layout.Good
	case state == stateRunning:
		mark, style = v.page.Glyphs.Running, layout.Info
	}
	why := ""
	switch {
	case len(v.own) == 1:
		why = words.LowerFirst(words.CauseSentence(&v.own[0]))
	case len(v.own) == 0 && len(v.report.Causes) > 0: // The Job stopped the pods.
		why = words.LowerFirst(v.report.Causes[0].Text)
	case len(v.own) == 0:
		for i := range v.report.Problems {
			if p := &v.report.Problems[i]; slices.ContainsFunc(v.report.Pods, func(pod explain.PodInfo) bool { return slices.Contains(p.Pods, pod.Name) }) {
				why = p.Text
			}
		}
	}
	return layout.Of(layout.Text(style|layout.Bold, mark+" "), layout.Text(layout.Bold, subject), plain(" of "+v.report.Job.Name+" "),
		layout.Text(style|layout.Bold, state), plain(wording.Join("", ": ", why)))
}

const stateRunning = "is running"

// podState returns "pod big-49-x2v9q (index 49)", and what the pod does.
func (v *short) podState(name string) (subject, state string) {
	pod := v.podInfo(name)
	subject = "pod " + name
	if pod.Index != nil {
		subject += fmt.Sprintf(" (index %d)", *pod.Index)
	}
	switch corev1.PodPhase(pod.Phase) {
	case corev1.PodFailed:
		return subject, "failed"
	case corev1.PodSucceeded:
		return subject, "succeeded"
	case "":
		return subject, "could not be read"
	}
	return subject, "is " + words.LowerFirst(pod.State)
}

// indexStates are the states of one index in a headline, if they differ from the words of section.
var indexStates = map[string]string{
	section.IndexActive: stateRunning, section.IndexTerminating: "is terminating", section.IndexBackingOff: "is in back-off",
	section.IndexRetrying: "waits for its next pod", section.IndexNotStarted: "has not started", section.IndexUnknown: "could not be read",
}

// indexState returns "index 49" and its state with the number of its failures, or "indexes 3,7-9" and the number of indexes
// in each state.
func (v *short) indexState(part explain.Options) (subject, state string) {
	x := v.report.Indexes
	if part.Indexes.Len() > 1 {
		counts := map[string]int{}
		for i := range x.Details {
			counts[section.IndexWord(x, &x.Details[i])]++
		}
		for _, of := range section.IndexStates(x) {
			if n := counts[of.Word]; n > 0 {
				state = wording.Join(", ", state, wording.Count(n, of.Word))
			}
		}
		return "indexes " + v.frame.Crop(part.Indexes.String(), section.IndexesLimit), "have " + state
	}
	subject = "index " + part.Indexes.String()
	if len(x.Details) == 0 {
		return subject, indexStates[section.IndexUnknown]
	}
	info := &x.Details[0]
	word := section.IndexWord(x, info)
	failures := info.Failures + info.Ignored
	switch {
	case word == section.IndexFailed || word == section.IndexWillNotComplete && failures > 0:
		return subject, "failed" + words.Times(failures)
	case failures > 0:
		return subject, cmp.Or(indexStates[word], word) + " after " + wording.Plural(failures, "failure", "failures")
	}
	return subject, cmp.Or(indexStates[word], word)
}

// partPods returns the latest pods, the first one first.
func (v *short) partPods(part explain.Options) (out []labeled) {
	pods := slices.Clone(v.report.Pods)
	slices.SortStableFunc(pods, func(x, y explain.PodInfo) int { return cmp.Compare(x.Attempt, y.Attempt) })
	pods = pods[max(0, len(pods)-shortPods):]
	for i := range pods {
		p := &pods[i]
		if part.Pod != "" || part.Indexes.Len() == 1 { // The headline has the index.
			p.Index = nil
		}
		what := strings.ToLower(p.Phase)
		if p.Failure != nil {
			what = p.Failure.Short()
		}
		if !p.Ended.IsZero() {
			what += ", " + v.frame.When(p.Ended)
		}
		out = append(out, labelOf("Pods", layout.Plain, words.PodPlace(p, p.Attempt, 0)+": "+what)...)
	}
	if rest := int32(len(v.report.Pods)-len(pods)) + v.report.PodsOmitted; rest > 0 {
		out = append(out, labelOf("Pods", layout.Muted, wording.Plural(rest, "other pod", "other pods"))...)
	}
	return out
}
