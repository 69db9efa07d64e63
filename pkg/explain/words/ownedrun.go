package words

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// RunOf returns the report on a Job of a CronJob or JobSet in short.
func RunOf(r *explain.Report, now time.Time) explain.OwnedRun {
	run := explain.OwnedRun{Name: r.Job.Name, State: explain.OwnedRunning, Since: r.Job.Created, Started: r.Job.Started, Finished: r.Job.Finished, Deleting: r.IsDeleting()}
	if p := r.Named(); p != nil {
		run.Since = cmp.Or(p.Since, run.Since)
		run.Cause, run.Waits = problemOfRun(p, now)
	}
	switch v := &r.Verdict; {
	case v.Outcome.Fails():
		addFailure(&run, r)
	case v.Outcome.Succeeds():
		run.State, run.Since, run.Cause = explain.OwnedSucceeded, cmp.Or(r.Job.Finished, r.Job.Created), hiddenError(r)
	case r.Job.Suspend:
		run.State = explain.OwnedSuspended
	case v.Stalled:
		run.State = explain.OwnedStalled
	default:
		addRunning(&run, r)
	}
	if isLong := run.State == explain.OwnedRunning && run.Since != nil && now.Sub(run.Since.Time) >= LongRun; run.Cause != "" || isLong {
		run.Logs = lists.First(r.Advice, func(a *explain.Advice) bool { return a.Kind == explain.AdviceLogs })
	}
	if run.Cause != "" {
		run.Fix = lists.First(r.Advice, func(a *explain.Advice) bool {
			return (a.Kind == explain.AdviceFix || a.Kind == "") && !a.OfOwner && !a.OfSource
		})
	}
	if run.State == explain.OwnedRunning && run.FailedPods > 0 {
		run.Limit = r.BackoffLimit
	}
	return run
}

// addRunning adds since when the first pod of a Job that runs has run, and the failures so far.
func addRunning(run *explain.OwnedRun, r *explain.Report) {
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Phase == string(corev1.PodRunning) && p.Started.Before(run.Since) {
			run.Since = p.Started
		}
	}
	run.FailedPods = r.Counts.Failed + r.Counts.UncountedFailed - r.Counts.StoppedFailures
	own := lists.First(r.Causes, func(c *explain.Cause) bool { return !c.IsStopped() })
	if own != nil && run.FailedPods > 0 && run.Cause == "" {
		run.Cause = LowerFirst(CauseSentence(own))
	}
}

// hiddenError returns the error with which the log of a Job that succeeded ends, "" if it has none.
func hiddenError(r *explain.Report) string {
	p := lists.First(r.Problems, func(p *explain.Problem) bool { return p.Kind == explain.ProblemErrorHidden })
	switch {
	case p == nil:
		return ""
	case p.Start.Error != nil:
		return p.Start.Error.Text()
	}
	return "“" + p.Run.LastLine + "”"
}

// addFailure adds the end of a Job that failed or is failing.
func addFailure(run *explain.OwnedRun, r *explain.Report) {
	v := &r.Verdict
	run.State, run.Since, run.Cause = explain.OwnedFailed, cmp.Or(r.Job.Finished, r.Job.Created), endCause(v)
	if run.Cause == "" || v.EndedBy != explain.EndedByRestarts { // The end of the container is in it.
		run.Cause = cmp.Or(wording.Join("; ", run.Cause, decidingText(r)), v.Why)
	}
	if r.Job.Finished != nil {
		return
	}
	run.State, run.Since = explain.OwnedFailing, nil
	if v.WaitsFor != nil {
		run.Waits = "it waits for " + WaitsForText(v.WaitsFor) + notStopped(r)
	}
}

// roomAtOwner is the room that the sentence about an owner has for the cause of its Job.
const roomAtOwner = maxSentence - len("Its Job blocks the CronJob (Forbid): .")

// problemOfRun describes the problem of a Job in a report on its owner, with what has no room in the same sentence.
func problemOfRun(p *explain.Problem, now time.Time) (cause, aside string) {
	if p.Kind == explain.ProblemSuspended && p.Suspension.Owner != nil && !p.Suspension.OfTemplate() {
		return "", "" // The owner is the one whose report this is for.
	}
	short := *p
	if p.Kind == explain.ProblemContainerFailed && crashLoopQuote(p, now).message == "" {
		short.Kind = explain.ProblemContainerEnded // What keeps the pod from ending says most.
	}
	if short.Kind == explain.ProblemContainerEnded && p.Count <= 1 {
		short.Pods = nil // The name of the pod has no room.
	}
	isLong := p.Kind == explain.ProblemImagePull && utf8.RuneCountInString(imageText(&short, now)) > roomAtOwner
	if isLong || p.Kind == explain.ProblemErrorRepeated {
		short.Container = "" // The error, or the image, says more.
	}
	clauses, aside := whatAndAside(&short, now, "")
	if cause = joined(append(clauses, aside)); aside != "" && utf8.RuneCountInString(cause) >= maxSentence {
		return joined(clauses), aside
	}
	return cause, ""
}

// notStopped says why a kubelet cannot end a pod of the Job, "" if none is known.
func notStopped(r *explain.Report) string {
	if p := lists.First(r.Problems, func(p *explain.Problem) bool { return p.Deletion.Trouble != nil }); p != nil {
		return ", as " + p.Deletion.Trouble.Text("")
	}
	return ""
}

// RunOfOutline returns a Job of a CronJob in short, with the cause that lists have.
func RunOfOutline(o *explain.Outline, now time.Time) explain.OwnedRun {
	run := explain.OwnedRun{
		Name: o.Name, State: explain.OwnedRunning, Since: o.Created, Cause: Why(o, now, MostWhy), Started: o.Started, Finished: o.Finished,
	}
	switch {
	case o.Outcome.Fails():
		if run.State, run.Since = explain.OwnedFailed, o.Finished; o.Finished == nil {
			run.State = explain.OwnedFailing
		}
	case o.Outcome.Succeeds():
		run.State, run.Since, run.Cause = explain.OwnedSucceeded, cmp.Or(o.Finished, o.Created), ""
	case o.Status == string(batchv1.JobSuspended):
		run.State = explain.OwnedSuspended
	case o.Stalled != nil:
		run.State, run.Since, run.Cause = explain.OwnedStalled, cmp.Or(o.Stalled.Since, o.Created), o.Stalled.Text
	case run.Cause != "":
		run.FailedPods = o.Failures()
	}
	if run.State == explain.OwnedFailed { // A list has no more than the kind of the cause.
		run.Fix = &explain.Advice{Kind: explain.AdviceFix, Text: FindCauseOfRun, Command: explain.Kubectl(o.Namespace, "batchjob why %s", explain.ShellWord(o.Name))}
	}
	return run
}

// decidingText returns the failure that decided the Job's end, "" if none is known.
func decidingText(r *explain.Report) string {
	c := r.Verdict.Cause
	if c == nil {
		return ""
	}
	own := lists.First(r.Causes, func(own *explain.Cause) bool { return own.Container == c.Container && slices.Contains(own.Pods, c.Pod) })
	if own != nil {
		return LowerFirst(CauseSentence(own))
	}
	return c.Text
}

// runText says what became of a Job: "is stalled for 3h".
func runText(run *explain.OwnedRun, now time.Time) string {
	if run.State == explain.OwnedRunning && run.FailedPods > 0 {
		return "has " + wording.Plural(run.FailedPods, "failed pod", "failed pods")
	}
	since, ago := "", ""
	if run.Since != nil {
		age := wording.Age(now.Sub(run.Since.Time))
		since, ago = " for "+age, " "+age+" ago"
	}
	return map[explain.OwnedState]string{
		explain.OwnedRunning:   "has been running" + since,
		explain.OwnedStalled:   "is stalled" + since,
		explain.OwnedSuspended: "is suspended" + since,
		explain.OwnedSucceeded: "succeeded" + ago,
		explain.OwnedFailing:   "is failing",
		explain.OwnedFailed:    "failed" + ago,
		explain.OwnedUnknown:   "no longer exists",
	}[run.State]
}

// waitsText says what adds to the cause of a Job, "" for none.
func waitsText(run *explain.OwnedRun) string {
	if run == nil {
		return ""
	}
	return run.Waits
}

// withCause returns a clause with its cause after a colon: the first of the texts that leaves room for the cause, or else the last, with
// the beginning and the end of the cause. A cause that would lose one of them, or more than an eighth, is a clause of its own, and the first.
// used is the position of the text that the clauses have.
func withCause(cause string, texts ...string) (clauses []string, used int) {
	if cause = OneLine([]string{cause}); cause == "" {
		used = max(slices.IndexFunc(texts, func(text string) bool { return utf8.RuneCountInString(text) < maxSentence }), 0)
		return texts[used : used+1], used
	}
	start := ""
	for i, text := range texts {
		start = text + ": "
		if utf8.RuneCountInString(start+cause) < maxSentence {
			return []string{start + cause}, i
		}
	}
	short := wording.Shorten(cause, max(room(start), 0))
	if strings.HasSuffix(cause, short[strings.LastIndexByte(short, ' ')+1:]) && 8*len(short) >= 7*len(cause) {
		return []string{start + short}, len(texts) - 1
	}
	if short = wording.Shorten(cause, maxSentence-1); strings.Count(short, "“") < strings.Count(short, "”") {
		short = strings.Replace(short, "”", "", 1) // The quotation began in what is cut.
	}
	return []string{UpperFirst(short), texts[0]}, 0
}
