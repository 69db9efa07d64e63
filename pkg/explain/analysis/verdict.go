package analysis

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

func (a *situation) verdict() explain.Verdict {
	v := explain.Verdict{Status: Status(a.job), Fate: a.outcome.Fate, Reason: a.outcome.reason, Message: a.outcome.message}
	v.Rule, v.RuleName = a.outcome.failedBy()
	if a.outcome.decided() && !a.finished() {
		v.WaitsFor = a.waitsFor()
	}
	v.Stalled = a.blocker() != nil
	var why []string
	switch {
	case a.outcome.failing():
		why = a.whyFailed()
		v.ReasonFirst = !a.knowsReason() && a.outcome.message != ""
	case a.outcome.decided():
		why = []string{a.whyComplete()}
	default:
		v.Clauses, v.Problem = a.whatHappens()
	}
	if len(why) > 0 {
		v.Why, v.Clauses = words.Clauses(why), slices.Clone(why)
		v.Clauses[0] = outcomeTexts[a.outcome.Fate] + v.Clauses[0]
	}
	if a.outcome.failing() && a.succeededNow() > 0 {
		v.Progress = a.progress()
		v.Clauses = append(v.Clauses, v.Progress)
	}
	v.Clauses = append(v.Clauses, a.lineage())
	if a.outcome.failing() {
		v.Clauses = append(v.Clauses, a.rest())
	}
	if v.WaitsFor != "" {
		v.Clauses = append(v.Clauses, "it waits for "+v.WaitsFor)
	}
	v.Clauses = slices.DeleteFunc(v.Clauses, func(c string) bool { return c == "" })
	v.Sentence = words.Clauses(v.Clauses) + "."
	return v
}

// outcomeTexts begin the verdict on a Job whose end is decided.
var outcomeTexts = map[explain.Fate]string{
	explain.FateFailed: "The Job failed: ", explain.FateFailing: "The Job is going to fail: ",
	explain.FateComplete: "The Job is complete: ", explain.FateSucceeding: "The Job has succeeded: ",
}

// whatHappens is the verdict on a Job whose end is open, and the problem that it names.
func (a *situation) whatHappens() (verdict []string, problem *int32) {
	b := a.blocker()
	switch {
	case retry.IsPending(a.job):
		return []string{words.InterruptedText(retry.RootOf(a.job))}, nil
	case b == nil:
		return a.whatRuns()
	}
	text := "The Job is stalled: " + words.ProblemWhat(b, a.Now, &a.reconciler)
	if b.Kind == explain.ProblemSuspended || b.Kind == explain.ProblemDeleting {
		text = words.UpperFirst(words.ProblemWhat(b, a.Now, &a.reconciler))
	}
	return []string{text, words.ProblemNote(b)}, a.placeOf(b)
}

// placeOf is the index of a problem in the report.
func (a *situation) placeOf(p *explain.Problem) *int32 {
	for i := range a.problems {
		if &a.problems[i] == p {
			return ptr.To(int32(i))
		}
	}
	return nil
}

// waitsFor is what the terminal condition waits for.
func (a *numbers) waitsFor() string {
	running, terminating, held := a.job.Status.Active, ptr.Deref(a.job.Status.Terminating, 0), int32(0)
	if a.PodsRead {
		w := ptr.Deref(a.plan.Findings.WaitFinish, reconcile.WaitFinish{})
		running, terminating, held = w.Active, w.Terminating, w.Ended
	}
	var parts []string
	if running > 0 {
		parts = append(parts, words.Times(running, "running pod", "running pods"))
	}
	if terminating > 0 {
		parts = append(parts, words.Times(terminating, "terminating pod", "terminating pods"))
	}
	if held > 0 {
		parts = append(parts, words.Times(held, "ended pod to be counted", "ended pods to be counted"))
	}
	if len(parts) == 0 {
		return words.ControllerWord(a.reconciler.Name()) + " to record it"
	}
	return words.Enumerate(parts, "and")
}

// whyFailed are clauses.
func (a *numbers) whyFailed() []string {
	failed := a.job.Status.Failed + int32(a.uncountedFailed())
	switch a.outcome.reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if a.restartsFailedIt() {
			return a.whyRestarts()
		}
		limit := jobspec.BackoffLimit(a.spec)
		if failed <= limit {
			// Without restarts only failures count: the limit was lower than it is now.
			return []string{fmt.Sprintf("its failures exceeded backoffLimit, which is %d now", limit), a.mostly()}
		}
		allows := "allows " + words.Times(limit, "retry", "retries")
		if limit == 0 {
			allows = "0 allows no retries"
		}
		return []string{fmt.Sprintf("%s, and backoffLimit %s", words.Times(failed, "pod failed", "pods failed"), allows), a.mostly()}
	case batchv1.JobReasonDeadlineExceeded:
		return []string{fmt.Sprintf("it ran longer than its activeDeadlineSeconds (%s)", deadlineText(a.spec.ActiveDeadlineSeconds)), a.mostly()}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		_, lost := a.endedIndexes()
		return []string{fmt.Sprintf("%s (%s), and maxFailedIndexes allows %d", words.Times(int32(lost.Len()), "index failed", "indexes failed"), crop(lost.String()), ptr.Deref(a.spec.MaxFailedIndexes, 0)), a.mostly()}
	case batchv1.JobReasonFailedIndexes:
		_, lost := a.endedIndexes()
		return []string{fmt.Sprintf("%s of its %s failed (%s)", words.Number(int32(lost.Len())), words.Times(ptr.Deref(a.spec.Completions, 0), "index", "indexes"), crop(lost.String())), a.mostly()}
	}
	switch {
	case a.knowsReason():
		return []string{a.whyRule()}
	case a.outcome.message != "":
		return []string{a.outcome.reason + ", " + words.Quoted(a.outcome.message)}
	}
	return []string{"reason " + a.outcome.reason}
}

// knowsReason reports whether the reason for which the Job failed is one of ours to explain.
func (a *analysis) knowsReason() bool {
	switch a.outcome.reason {
	case batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes:
		return true
	}
	return a.outcome.culprit.pod != "" || !a.outcome.noRule() || a.outcome.byRule()
}

func deadlineText(deadline *int64) string {
	if deadline == nil {
		return "no longer set"
	}
	return words.Seconds(*deadline)
}

// whyRule is the verdict after a rule with FailJob.
func (a *analysis) whyRule() string {
	rule := "a rule of its podFailurePolicy"
	if !a.outcome.noRule() || a.outcome.ruleName != "" {
		rule = ruleLabel(a.outcome.rule, a.outcome.ruleName) + " of its podFailurePolicy"
	}
	if a.outcome.noRule() && a.outcome.ruleName != "" {
		rule = fmt.Sprintf("rule %q of its podFailurePolicy", a.outcome.ruleName)
	}
	k := a.outcome.culprit
	if k.pod == "" && a.outcome.message != "" {
		return rule + " matched, " + words.Quoted(a.outcome.message)
	}
	if k.pod == "" {
		return rule + " matched"
	}
	what := "it has condition " + k.condition
	if k.condition == "" {
		reason, said := "", ""
		if f := a.example(); f != nil && f.pod.Name == k.pod {
			reason, said = f.cause.Reason, saying(f.message())
		}
		what = fmt.Sprintf("its container %s ended with %s%s", k.container, cause.ExitText(k.exitCode, reason), said)
	}
	return fmt.Sprintf("%s matched pod %s: %s", rule, a.culpritLabel(), what)
}

func (a *analysis) culpritLabel() string {
	for i := range a.pods {
		if p := a.pods[i]; p.Name == a.outcome.culprit.pod && p.Index >= 0 {
			return fmt.Sprintf("%s (index %d)", p.Name, p.Index)
		}
	}
	return a.outcome.culprit.pod
}

// mostly is a clause on the most frequent cause, "" if none is known.
func (a *numbers) mostly() string {
	var first *explain.Cause
	all, kinds := int32(0), 0
	causes := a.causes
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
	text := words.LowerFirst(textWithSignal(first)) + saying(first.Message)
	if kinds == 1 {
		return text
	}
	of := words.Of(first.Count, all)
	if a.untold > 0 {
		of = fmt.Sprintf("%s of the %s with a known cause", words.Number(first.Count), words.Number(all))
	}
	if 2*first.Count > all {
		return fmt.Sprintf("mostly (%s) %s", of, text)
	}
	return of + ": " + text
}

// textWithSignal names the signal of an exit code that has no other reason.
func textWithSignal(c *explain.Cause) string {
	if c.Failure == nil || c.Reason != "" || c.Signal == "" {
		return c.Text
	}
	f := *c.Failure
	f.Reason = c.Signal
	return f.Text()
}

// maxSaying is how much of a message goes into a sentence, in bytes.
const maxSaying = 100

// saying is the last line of a message, for the end of a sentence; "" if it is too long.
func saying(message string) string {
	all := lines(message)
	if len(all) == 0 || len(all[len(all)-1]) > maxSaying {
		return ""
	}
	return ", " + words.Quoted(all[len(all)-1])
}

func (a *numbers) whyComplete() string {
	took := ""
	if s := a.jobView.DurationSeconds; s != nil && a.outcome.Fate == explain.FateComplete {
		took = " in " + words.Seconds(*s)
	}
	if a.outcome.reason == batchv1.JobReasonSuccessPolicy {
		for _, r := range rulesOf(a.success) {
			if r.Met {
				return fmt.Sprintf("rule %d of its successPolicy is met, %s succeeded%s", r.Index, r.Text, took)
			}
		}
	}
	if !a.indexed() && a.spec.Completions == nil {
		took += ", and none is still running"
	}
	return a.progress() + took
}

// whatRuns is the verdict on a Job that is running, and the problem that it names.
func (a *situation) whatRuns() (verdict []string, problem *int32) {
	if a.job.DeletionTimestamp != nil {
		return []string{"The Job is being deleted"}, nil
	}
	active, failed := a.activeNow(), a.failedNow()
	if f := a.plan.Findings.Backoff; f != nil && active == 0 {
		return []string{fmt.Sprintf("The Job is in back-off for another %s: %s%s", words.Age(f.Until.Sub(a.Now)), a.progress(), failed), a.mostlyFailed()}, nil
	}
	verdict = []string{fmt.Sprintf("The Job is running: %s, %s active%s", a.progress(), words.Times(active, "pod is", "pods are"), failed), a.mostlyFailed()}
	if a.doomed() {
		verdict = append(verdict, fmt.Sprintf("it will eventually fail, because %s failed", words.Times(a.indexes.FailedCount, "index has", "indexes have")))
	}
	if until, waiting := a.indexBackoff(); !waiting.IsEmpty() {
		retried := "is retried"
		if !a.roomForRetries() {
			retried = "may be retried"
		}
		verdict = append(verdict, fmt.Sprintf("%s in back-off, the first %s in %s", words.Times(int32(waiting.Len()), "index is", "indexes are"), retried, words.Age(until.Sub(a.Now))))
	}
	for i := range a.problems {
		if p := &a.problems[i]; p.Blocks {
			return append(verdict, "but "+p.Text), a.placeOf(p)
		}
	}
	return verdict, nil
}

func (a *numbers) progress() string {
	succeeded := a.succeededNow()
	switch {
	case a.indexed():
		return fmt.Sprintf("%s of %s succeeded", words.Number(succeeded), words.Times(ptr.Deref(a.spec.Completions, 0), "index", "indexes"))
	case a.spec.Completions != nil:
		return fmt.Sprintf("%s of %s succeeded", words.Number(succeeded), words.Times(*a.spec.Completions, "pod", "pods"))
	}
	return words.Times(succeeded, "pod succeeded", "pods succeeded")
}
