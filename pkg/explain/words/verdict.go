package words

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Answer has the values of a verdict, besides the fields that stay in it.
type Answer struct {
	*explain.Verdict
	Now time.Time
	// Progress is how much has succeeded, Completed the number in the report's Counts, and Completions that of the spec.
	Progress    Progress
	Completed   int32
	Completions *int32
	// Failed is the number of failed indexes.
	Failed int32

	// The rest of this part is about a Job whose outcome is open. RetryOf is the first Job of the family if the Job is a retry
	// whose creation was interrupted.
	RetryOf string
	// Blocker is the problem that blocks the Job, and Beside one that blocks a pod while others run, or
	// one of the past: a container that runs again, or lost pods.
	Blocker, Beside *explain.Problem
	Deleting        bool
	// Backoff is the time until the back-off of the Job ends, nil if there is none.
	Backoff *time.Duration
	// Unlimited is the age of the pod that has run longest, if nothing limits its time. Parallelism comes from the spec.
	Unlimited time.Duration
	// InOldest are the running containers of that pod.
	InOldest    []string
	Parallelism int32
	// Late is how long after Due, its scheduled time, a CronJob started the Job; 0 if that is unknown.
	Late time.Duration
	Due  time.Time
	// Active is the number of active pods, and Failures the number of failures. BackoffLimit is how far the Job is from failing, nil if
	// no limit counts all failures.
	Active, Failures int32
	BackoffLimit     *explain.BackoffLimit
	// WillFail reports whether the Job can no longer succeed.
	WillFail bool
	// HelmGaveUp is set if Helm's default timeout for the Job, its hook, is over.
	HelmGaveUp   bool
	IndexBackoff *IndexBackoff
	Mostly       *Mostly

	// The rest is about a Job whose outcome is decided: the pod that a rule matched, and the failure that this hides; the
	// duration of a complete Job, and the rule of the successPolicy that is met.
	Matched *Matched
	Hidden  *explain.Hidden
	Seconds *int64
	// Earlier is the Job of the same name before this one, if a TTL deleted it after so many seconds, or if its JobSet started over, which
	// this is the Restart of; nil for none.
	Earlier     *explain.EarlierJob
	Restart     string
	TTL         int32
	SuccessRule *explain.SuccessRule
	// Gone is the number of pods of a complete Job if none of them exists, and Taken who took pods from it, nil if that is unknown.
	Gone  int32
	Taken *explain.Disruptions
	// IsQueue reports whether the Job had to wait for all pods to end, because it has no completions.
	IsQueue bool
	// Rest is the family whose retries run the rest of a failed Job.
	Rest *explain.Family
	// Reservations are the problems of a Job whose outcome is decided.
	Reservations []*explain.Problem
}

// Progress is how many indexes, or pods of a NonIndexed Job, have succeeded; Of is nil if the Job has no completions.
type Progress struct {
	Done    int32
	Of      *int32
	Indexed bool
	// QueueEnds reports whether a success of a work queue keeps its failed pods from being replaced.
	QueueEnds bool
}

// IndexBackoff is the back-off of indexes: the time until the first retry, which is certain or possible.
type IndexBackoff struct {
	Indexes int32
	Left    time.Duration
	Certain bool
}

// Mostly is the most frequent cause. Causes is the number of known causes, Failures the number of their failures; Partly is
// whether other failures have an unknown cause.
type Mostly struct {
	Cause            *explain.Cause
	Causes, Failures int32
	Partly           bool
}

// Matched is the pod that a rule matched, by its condition or else by the exit of a container. Index is -1 if it has none, or
// if it is unknown.
type Matched struct {
	Pod       string
	Index     int32
	Condition string
	// Cause is the cause of the pod's failure, nil if it is unknown.
	Cause *explain.Cause
	Exit  cause.Exit
	// Message is the termination message, and Error the error that it or the log reports, if its meaning is known.
	Message string
	Error   *meaning.KnownError
}

// FillInVerdict makes the texts of the verdict.
func FillInVerdict(a *Answer) {
	v := a.Verdict
	v.State, v.Summary = stateText(a), summary(a)
	clauses := nonEmpty(answer(a)...)
	progress := ""
	if v.Outcome.Fails() && a.Completed > 0 {
		progress = progressText(&a.Progress)
	}
	if v.Outcome != reconcile.OutcomeOpen {
		v.Why = Clauses(append(slices.Clone(clauses), progress))
		if v.EndedBy != explain.EndedByOther {
			v.Why = v.Reason + ": " + v.Why
		}
		if a.inOutput() != nil {
			clauses = a.withOutput(strings.TrimSuffix(decidedTexts[v.Outcome], ": "), clauses)
		} else {
			clauses[0] = decidedTexts[v.Outcome] + clauses[0]
		}
	}
	clauses = append(clauses, progress)
	if a.Rest != nil {
		clauses = append(clauses, RestText(a.Rest))
	}
	for _, p := range a.Reservations {
		if p != a.inOutput() {
			clauses = append(clauses, p.Text)
		}
	}
	if v.WaitsFor != nil {
		clauses = append(clauses, "it waits for "+WaitsForText(v.WaitsFor))
	}
	v.Clauses = nonEmpty(clauses...)
	v.Sentence = sentencesOf(v.Clauses)
}

// maxSentence is the maximum length of a sentence that is read at one look, in characters.
const maxSentence = 160

// decidedTexts are the beginnings of the verdict on a Job whose outcome is decided.
var decidedTexts = map[reconcile.Outcome]string{
	reconcile.OutcomeFailed: "The Job failed: ", reconcile.OutcomeFailing: "The Job is going to fail: ",
	reconcile.OutcomeComplete: "The Job is complete: ", reconcile.OutcomeSucceeding: "The Job has succeeded: ",
}

// answer returns the clauses on why the outcome is decided, or on what happens.
func answer(a *Answer) []string {
	switch {
	case a.Outcome.Fails():
		return endSentence(a)
	case a.Outcome.Succeeds():
		clauses := append([]string{completeText(a)}, earlierClauses(a)...)
		waited := map[bool]string{true: helmWaits + ", so it may have given up before"}[a.HelmGaveUp && a.Stay == ""]
		a.Notes = nonEmpty(stays[a.Stay], earlierJobText(a), goneText(a), waited, LateJobText(a.Late, a.Due, a.Now))
		return append(clauses, a.Notes...)
	case a.RetryOf != "":
		return []string{"The Job is a retry of " + a.RetryOf + " whose creation was interrupted: it runs nothing, and the next retry replaces it"}
	case a.Blocker != nil:
		return append(blockedClauses(a.Blocker, a.Now), ProblemNote(a.Blocker))
	case a.Deleting:
		return []string{"The Job is being deleted"}
	}
	progress := progressText(&a.Progress)
	if a.inBackoff() {
		return openClauses(a, "The Job is in back-off for another "+wording.Age(*a.Backoff), progress)
	}
	state, numbers := "The Job is running", fmt.Sprintf("%s, %s active", progress, wording.Plural(a.Active, "pod is", "pods are"))
	clauses := openClauses(a, state, numbers)
	if a.inOutput() != nil {
		clauses = a.withOutput(state, []string{numbers + failedText(a.Failures)})
	}
	if a.HelmGaveUp {
		clauses = append(clauses, helmWaits+", and the Job goes on after that")
	}
	if a.WillFail {
		clauses = append(clauses, fmt.Sprintf("it will eventually fail, because %s failed", wording.Plural(a.Failed, "index has", "indexes have")))
	}
	if b := a.IndexBackoff; b != nil {
		retried := map[bool]string{false: "may be retried", true: "is retried"}[b.Certain]
		clauses = append(clauses, fmt.Sprintf("%s in back-off, the first %s in %s", wording.Plural(b.Indexes, "index is", "indexes are"), retried, wording.Age(b.Left)))
	}
	var running []string
	if len(clauses) == 1 && a.Beside == nil {
		running = notes(a)
	}
	a.Notes = append(nonEmpty(earlierJobText(a)), running...)
	if len(running) == 0 { // How long it runs matters more than when it should have started.
		a.Notes = append(a.Notes, nonEmpty(LateJobText(a.Late, a.Due, a.Now))...)
	}
	clauses = append(clauses, a.Notes...)
	return withBeside(a, clauses)
}

// withBeside adds the problem that the Job has although it runs.
func withBeside(a *Answer, clauses []string) []string {
	switch b := a.Beside; {
	case b == nil, b == a.inOutput():
		return clauses
	case b.Kind == explain.ProblemContainerEnded && b.Count >= a.Active: // The pods have nothing else that explains why they run.
		return append([]string{UpperFirst(b.Text)}, clauses...)
	case b.Blocks:
		return append(clauses, "but "+b.Text)
	default:
		return append(clauses, b.Text)
	}
}

// openClauses returns the clauses on the state of an open Job, its numbers, and the most frequent cause. That comes before the numbers if
// no pod has succeeded yet, or if there is no room for both in the first sentence.
func openClauses(a *Answer, state, numbers string) []string {
	clauses := append([]string{state + ": " + numbers + failedText(a.Failures)}, mostlyClauses(a.Mostly, "")...)
	fits := len(clauses) == 1 || utf8.RuneCountInString(strings.Join(clauses[:2], "; "))+len(".") <= maxSentence
	if a.Mostly == nil || fits && a.Progress.Done > 0 {
		return clauses
	}
	beginning, retries, whole := state+", but "+wording.Plural(a.Failures, "pod", "pods")+" failed", retriesText(a.BackoffLimit), clauses[1]
	if used := wording.InBrackets(retries) + ": "; a.Mostly.Causes == 1 && utf8.RuneCountInString(whole) <= room(beginning+used) {
		beginning, retries = beginning+used, ""
	} else {
		beginning += ": "
	}
	why := mostlyClauses(a.Mostly, beginning)
	if len(why) == 1+len(moreClauses(a.Mostly.Cause)) && utf8.RuneCountInString(why[0]) <= room(beginning) {
		why[0] = beginning + why[0]
		return append(why, wording.Join(", ", "so far, "+numbers, retries))
	}
	return clauses
}

// retriesText returns "2 of 6 retries used", "" if the limit is unknown, or does not count failures.
func retriesText(l *explain.BackoffLimit) string {
	if l == nil || l.Unit == explain.LimitRestarts || l.NoRetries || l.Used == 0 || l.Used > l.Limit {
		return ""
	}
	return wording.Of(l.Used, l.Limit) + wording.Form(l.Limit, " retry", " retries") + " used"
}

// LongRun is the time after which a Job without a deadline has run for long.
const LongRun = time.Hour

// notes returns what explains a Job that runs without a problem.
func notes(a *Answer) (all []string) {
	if n := a.Completions; n != nil && a.Parallelism > *n && a.Active > 0 {
		all = append(all, fmt.Sprintf("completions %d needs no more pods at once, although parallelism is %d", *n, a.Parallelism))
	}
	if a.Unlimited >= LongRun {
		what := wording.Form(int(a.Active), "its pod has", "its oldest pod has")
		if len(a.InOldest) == 1 {
			what = strings.TrimSuffix(what, " has") + " (container " + a.InOldest[0] + ") has"
		}
		all = append(all, fmt.Sprintf("%s been running for %s, and no activeDeadlineSeconds ends it", what, wording.Age(a.Unlimited)))
	}
	return all
}

// stays say why a complete Job exists.
var stays = map[explain.Stay]string{
	explain.StayLeft:   "Helm has not deleted it, although its helm.sh/hook-delete-policy has hook-succeeded: most likely, Helm had stopped waiting for it",
	explain.StaySoon:   "Helm deletes it when all hooks have succeeded (helm.sh/hook-delete-policy), but not if it has stopped waiting for them",
	explain.StayByHand: "nothing deletes it: it has no ttlSecondsAfterFinished, and history limits cover only Jobs that their CronJob controls",
	explain.StayNoTTL:  "nothing deletes it, as it has no ttlSecondsAfterFinished: activeDeadlineSeconds ends only a Job that runs",
}

// earlierJobText says that the Job has been created again after its TTL, "" if it has not.
func earlierJobText(a *Answer) string {
	if a.Earlier == nil {
		return ""
	}
	ended := map[bool]string{false: "completed", true: "failed"}[a.Earlier.Failed]
	if a.Restart != "" {
		return fmt.Sprintf("an earlier Job of this name %s %s ago, and its JobSet started over (restart %s)", ended, wording.Age(a.Now.Sub(a.Earlier.Ended.Time)), a.Restart)
	}
	return fmt.Sprintf("an earlier Job of this name %s %s ago; ttlSecondsAfterFinished (%s) deleted it, and something created it again",
		ended, wording.Age(a.Now.Sub(a.Earlier.Ended.Time)), wording.Seconds(int64(a.TTL)))
}

func nonEmpty(all ...string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// helmWaits says why Helm may have reported that a hook failed, although it runs.
const helmWaits = "Helm waits 5m for a hook unless its --timeout is longer"

// inBackoff reports whether no pod runs until the back-off of the Job ends.
func (a *Answer) inBackoff() bool { return a.Backoff != nil && a.Active == 0 }

// stalled is the beginning of the verdict on a Job that a problem blocks.
const stalled = "The Job is stalled: "

// blockedClauses returns the first clauses of the verdict on a Job that a problem blocks.
func blockedClauses(p *explain.Problem, now time.Time) []string {
	beginning := stalled
	if problems[p.Kind].plain {
		beginning = ""
	}
	clauses := whatClauses(p, now, beginning)
	clauses[0] = UpperFirst(beginning + clauses[0])
	return clauses
}

// WaitsForText returns what the terminal condition waits for.
func WaitsForText(w *explain.WaitsFor) string {
	var parts []string
	if w.Running > 0 {
		parts = append(parts, wording.Plural(w.Running, "running pod", "running pods"))
	}
	if w.Terminating > 0 {
		parts = append(parts, wording.Plural(w.Terminating, "terminating pod", "terminating pods"))
	}
	if w.Ended > 0 {
		parts = append(parts, wording.Plural(w.Ended, "ended pod to be recorded", "ended pods to be recorded"))
	}
	if len(parts) == 0 {
		return ControllerWord(w.Controller) + " to record it"
	}
	return wording.Enumerate(parts, "and")
}

// matchedClauses describe the pod that the rule matched. If one sentence is too long, the pod's end comes first.
func matchedClauses(rule string, m *Matched) []string {
	pod := "pod " + m.Pod
	if m.Index >= 0 {
		pod += fmt.Sprintf(" (index %d)", m.Index)
	}
	matched := rule + " matched "
	if m.Condition != "" && (m.Cause == nil || m.Cause.Ending == nil) {
		return []string{matched + pod + ": it has condition " + m.Condition}
	}
	quote, text := meant(m.Error, m.Message), fmt.Sprintf("%s: its container %s %s", pod, m.Exit.Container, cause.ExitText(m.Exit.ExitCode, m.Exit.Reason))
	if m.Condition != "" {
		quote, text = endingQuote(m.Cause), fmt.Sprintf("%s (condition %s): %s", pod, m.Condition, endingOfIt(m.Cause))
	}
	if all := quote.clauses(matched+text, room(decidedTexts[reconcile.OutcomeFailed])); len(all) == 1 && utf8.RuneCountInString(all[0]) <= room(decidedTexts[reconcile.OutcomeFailed]) {
		return all
	}
	if m.Condition == "" {
		text = fmt.Sprintf("container %s of %s %s", m.Exit.Container, pod, cause.ExitText(m.Exit.ExitCode, m.Exit.Reason))
	}
	return append(quote.clauses(text, room(decidedTexts[reconcile.OutcomeFailed])), matched+"it")
}

// mostlyClauses returns the clauses on the most frequent cause, none if it is unknown; they follow the beginning of a sentence.
func mostlyClauses(m *Mostly, beginning string) []string {
	if m == nil {
		return nil
	}
	c := m.Cause
	text, quote := endingClause(LowerFirst(c.Text))+limitsClause(c.Container, c.MemoryLimit, c.Also), causeLine(c, false)
	if c.Error != nil {
		quote = meant(c.Error, "").at(c.Place)
	}
	switch {
	case len(c.After) > 0:
		quote = quotation{}
	case c.Ending != nil:
		text, quote = endingClause(LowerFirst(c.Text)), endingQuote(c)
	case quote.message == "" && c.ExitCode != nil && (c.Signal == "" || cause.Faults(*c.ExitCode)) && c.MemoryLimit == nil && c.Hidden == nil && len(c.Also) == 0:
		quote = meansExit(c.Meaning)
	}
	if m.Causes > 1 {
		of := wording.Of(c.Count, m.Failures)
		if m.Partly {
			of = fmt.Sprintf("%s of the %s with a known cause", wording.Thousands(c.Count), wording.Thousands(m.Failures))
		}
		if 2*c.Count > m.Failures {
			text = fmt.Sprintf("mostly (%s) %s", of, text)
		} else {
			text = of + ": " + text
		}
	}
	return append(quote.clauses(text, room(beginning)), moreClauses(c)...)
}

func progressText(p *Progress) string {
	switch {
	case p.Indexed:
		return fmt.Sprintf("%s of %s succeeded", wording.Thousands(p.Done), wording.Plural(ptr.Deref(p.Of, 0), "index", "indexes"))
	case p.Of != nil:
		return fmt.Sprintf("%s of %s succeeded", wording.Thousands(p.Done), wording.Plural(*p.Of, "pod", "pods"))
	}
	text := wording.Plural(p.Done, "pod succeeded", "pods succeeded")
	if p.QueueEnds {
		text += " (no new pods replace failed ones)"
	}
	return text
}

// completeText explains why the Job is complete.
func completeText(a *Answer) string {
	took := ""
	if a.Seconds != nil {
		took = " in " + wording.Seconds(*a.Seconds)
	}
	if rule := a.SuccessRule; rule != nil {
		return fmt.Sprintf("rule %d of its successPolicy is met, %s succeeded%s", rule.Index, rule.Text, took)
	}
	if a.IsQueue {
		took += ", and none is still running"
	}
	return progressText(&a.Progress) + took
}

// earlierClauses describe the failures of a Job that succeeded all the same.
func earlierClauses(a *Answer) []string {
	if a.Failures == 0 {
		return nil
	}
	clauses := mostlyClauses(a.Mostly, "")
	before := wording.Plural(a.Failures, "pod had", "pods had") + " failed before"
	if len(clauses) == 0 {
		return []string{before}
	}
	if text := before + ": " + clauses[0]; utf8.RuneCountInString(text) <= maxSentence {
		return append([]string{text}, clauses[1:]...)
	}
	return append([]string{before}, clauses...)
}

// failedText returns the number of failures, "" for none.
func failedText(failures int32) string {
	if failures == 0 {
		return ""
	}
	return ", " + wording.Count(failures, "failed")
}
