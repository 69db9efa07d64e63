package explain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

func (a *analysis) verdict() Verdict {
	v := Verdict{Status: Status(a.job), Fate: a.fate.Fate, Reason: a.fate.reason, Message: a.fate.message}
	v.Rule, v.RuleName = a.fate.failedBy()
	if a.fate.decided() && !a.finished() {
		v.WaitsFor = a.waitsFor()
	}
	v.Stalled = a.blocker() != nil
	switch {
	case a.fate.failing():
		v.Why = a.whyFailed()
	case a.fate.decided():
		v.Why = a.whyComplete()
	}
	v.Sentence = a.sentence(v) + "."
	return v
}

func (a *analysis) sentence(v Verdict) string {
	switch a.fate.Fate {
	case FateFailed:
		return "The Job failed: " + v.Why
	case FateFailing:
		return fmt.Sprintf("The Job is going to fail: %s; it waits for %s", v.Why, v.WaitsFor)
	case FateComplete:
		return "The Job is complete: " + v.Why
	case FateSucceeding:
		return fmt.Sprintf("The Job has succeeded: %s; it waits for %s", v.Why, v.WaitsFor)
	}
	switch b := a.blocker(); {
	case b == nil:
		return a.whatRuns()
	case b.Kind == ProblemSuspended, b.Kind == ProblemDeleting:
		return upperFirst(b.Text)
	default:
		return "The Job does not go on: " + b.Text
	}
}

// waitsFor is what the terminal condition waits for.
func (a *analysis) waitsFor() string {
	running, terminating, held := a.job.Status.Active, ptr.Deref(a.job.Status.Terminating, 0), int32(0)
	if a.PodsRead {
		w := ptr.Deref(a.plan.Findings.WaitFinish, reconcile.WaitFinish{})
		running, terminating, held = w.Active, w.Terminating, w.Ended
	}
	var parts []string
	if running > 0 {
		parts = append(parts, times(running, "pod that still runs", "pods that still run"))
	}
	if terminating > 0 {
		parts = append(parts, times(terminating, "terminating pod", "terminating pods"))
	}
	if held > 0 {
		parts = append(parts, times(held, "ended pod to be counted", "ended pods to be counted"))
	}
	if len(parts) == 0 {
		return a.controllerName() + " to say so"
	}
	return enumerate(parts, "and")
}

func (a *analysis) whyFailed() string {
	failed := a.job.Status.Failed + int32(a.uncountedFailed())
	switch a.fate.reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if a.restartsFailedIt() {
			return a.whyRestarts()
		}
		limit := jobspec.BackoffLimit(a.spec)
		if failed <= limit {
			return fmt.Sprintf("failures and container restarts together are more than backoffLimit, %d, allows%s", limit, a.mostly())
		}
		allows := "allows " + times(limit, "retry", "retries")
		if limit == 0 {
			allows = "0 allows no retry"
		}
		return fmt.Sprintf("%s, and backoffLimit %s%s", times(failed, "pod failed", "pods failed"), allows, a.mostly())
	case batchv1.JobReasonDeadlineExceeded:
		return fmt.Sprintf("it ran longer than its activeDeadlineSeconds (%s)%s", deadlineText(a.spec.ActiveDeadlineSeconds), a.mostly())
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		_, lost := a.endedIndexes()
		return fmt.Sprintf("%s (%s), and maxFailedIndexes allows %d%s", times(int32(lost.Len()), "index failed", "indexes failed"), crop(lost.String()), ptr.Deref(a.spec.MaxFailedIndexes, 0), a.mostly())
	case batchv1.JobReasonFailedIndexes:
		_, lost := a.endedIndexes()
		return fmt.Sprintf("%d of its %s failed (%s)%s", lost.Len(), times(ptr.Deref(a.spec.Completions, 0), "index", "indexes"), crop(lost.String()), a.mostly())
	}
	if a.fate.culprit.pod != "" || !a.fate.noRule() || strings.HasPrefix(a.fate.reason, batchv1.JobReasonPodFailurePolicy) {
		return a.whyRule()
	}
	if a.fate.message != "" {
		return a.fate.reason + ", " + quoted(a.fate.message)
	}
	return "reason " + a.fate.reason
}

func deadlineText(deadline *int64) string {
	if deadline == nil {
		return "not set any more"
	}
	return seconds(*deadline)
}

// whyRule is the verdict after a rule with FailJob.
func (a *analysis) whyRule() string {
	rule := "a rule of its podFailurePolicy"
	if !a.fate.noRule() || a.fate.ruleName != "" {
		rule = ruleLabel(a.fate.rule, a.fate.ruleName) + " of its podFailurePolicy"
	}
	if a.fate.noRule() && a.fate.ruleName != "" {
		rule = fmt.Sprintf("rule %q of its podFailurePolicy", a.fate.ruleName)
	}
	k := a.fate.culprit
	if k.pod == "" && a.fate.message != "" {
		return rule + " ended it, " + quoted(a.fate.message)
	}
	if k.pod == "" {
		return rule + " ended it"
	}
	what := "has condition " + k.condition
	if k.condition == "" {
		reason, said := "", ""
		if f := a.example(); f != nil && f.pod.Name == k.pod {
			reason, said = f.cause.Reason, saying(f.message())
		}
		what = fmt.Sprintf("its container %s ended with %s%s", k.container, exitText(k.exitCode, reason), said)
	}
	return fmt.Sprintf("%s ended it, because of pod %s: %s", rule, a.culpritLabel(), what)
}

func (a *analysis) culpritLabel() string {
	for i := range a.pods {
		if p := a.pods[i]; p.Name == a.fate.culprit.pod && p.Index >= 0 {
			return fmt.Sprintf("%s (index %d)", p.Name, p.Index)
		}
	}
	return a.fate.culprit.pod
}

// mostly tells of the most frequent cause.
func (a *analysis) mostly() string {
	var first *Cause
	all, kinds := int32(0), 0
	causes := a.r.Causes
	if groups := group(a.decisive()); len(groups) > 0 {
		causes = nil
		for _, g := range groups {
			causes = append(causes, a.causeOf(g))
		}
	}
	for i := range causes {
		c := &causes[i]
		if c.Consequence {
			continue
		}
		if first == nil {
			first = c
		}
		all += c.Count
		kinds++
	}
	if first == nil {
		return ""
	}
	text := lowerFirst(first.Text)
	if first.Signal != "" && first.Reason == "" {
		text = strings.Replace(text, fmt.Sprintf("code %d", *first.ExitCode), fmt.Sprintf("code %d (%s)", *first.ExitCode, first.Signal), 1)
	}
	text += saying(first.Message)
	if kinds == 1 {
		return "; " + text
	}
	if a.r.FailuresWithoutPod > 0 {
		return fmt.Sprintf("; mostly (%d of the %d whose cause is known) %s", first.Count, all, text)
	}
	return fmt.Sprintf("; mostly (%d of %d) %s", first.Count, all, text)
}

// maxSaying is how much of a message goes into a sentence, in bytes.
const maxSaying = 100

// saying is the last line of a message, for the end of a sentence; "" if it is too long.
func saying(message string) string {
	all := lines(message)
	if len(all) == 0 || len(all[len(all)-1]) > maxSaying {
		return ""
	}
	return ", " + quoted(all[len(all)-1])
}

// upperFirst begins a sentence with text.
func upperFirst(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 || r == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// lowerFirst puts a sentence behind a semicolon.
func lowerFirst(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 || r == utf8.RuneError {
		return text
	}
	return string(unicode.ToLower(r)) + text[size:]
}

func (a *analysis) whyComplete() string {
	succeeded, total := a.job.Status.Succeeded, a.spec.Completions
	took := ""
	if s := a.r.Job.DurationSeconds; s != nil && a.fate.Fate == FateComplete {
		took = " in " + seconds(*s)
	}
	if a.fate.reason == batchv1.JobReasonSuccessPolicy {
		for _, r := range a.r.SuccessPolicy.orNone() {
			if r.Met {
				return fmt.Sprintf("rule %d of its successPolicy is met, %s succeeded%s", r.Index, r.Text, took)
			}
		}
	}
	switch {
	case a.indexed():
		return fmt.Sprintf("%d of %s succeeded%s", succeeded, times(ptr.Deref(total, 0), "index", "indexes"), took)
	case total != nil:
		return fmt.Sprintf("%d of %s succeeded%s", succeeded, times(*total, "pod", "pods"), took)
	}
	return fmt.Sprintf("%s succeeded%s, and none runs any more", times(succeeded, "pod", "pods"), took)
}

// whatRuns is the verdict on a Job that goes on.
func (a *analysis) whatRuns() string {
	if a.job.DeletionTimestamp != nil {
		return "The Job is being deleted"
	}
	active, failed := a.activeNow(), a.failedNow()
	if f := a.plan.Findings.Backoff; f != nil && active == 0 {
		return fmt.Sprintf("The Job waits for its back-off, and goes on in %s: %s%s", age(f.Until.Sub(a.Now)), a.progress(), failed)
	}
	text := fmt.Sprintf("The Job runs: %s, %s active%s", a.progress(), times(active, "pod is", "pods are"), failed)
	if a.doomed() {
		text += fmt.Sprintf("; it will fail in the end, as %s failed", times(a.r.Indexes.FailedCount, "index has", "indexes have"))
	}
	if until, waiting := a.indexBackoff(); !waiting.IsEmpty() {
		goes := "goes on"
		if !a.roomForRetries() {
			goes = "may go on"
		}
		text += fmt.Sprintf("; %s in back-off, the first %s in %s", times(int32(waiting.Len()), "index is", "indexes are"), goes, age(until.Sub(a.Now)))
	}
	for i := range a.r.Problems {
		if a.r.Problems[i].Blocks {
			return text + "; but " + a.r.Problems[i].Text
		}
	}
	return text
}

func (a *analysis) progress() string {
	succeeded := a.succeededNow()
	switch {
	case a.indexed():
		return fmt.Sprintf("%d of %s succeeded", succeeded, times(ptr.Deref(a.spec.Completions, 0), "index", "indexes"))
	case a.spec.Completions != nil:
		return fmt.Sprintf("%d of %s succeeded", succeeded, times(*a.spec.Completions, "pod", "pods"))
	}
	return times(succeeded, "pod succeeded", "pods succeeded")
}
