package words

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// endWords are the words for one way in which Jobs end.
type endWords struct {
	// column is the text for the column WHY of a list, if the causes of the failures are unknown; "" for the reason.
	column string
	// headline are the clauses on a failure of the Job that no failed pod explains.
	headline func(e *explain.End) []string
	// mechanism is the limit or the rule that made failures final, or that is met. It is "" if the headline says as much.
	mechanism func(r *explain.Report) string
	// sentence are the clauses of the verdict. Without it, they are the headline and the most frequent cause.
	sentence func(a *Answer) []string
	// evidence is the limit, with how much of it is used.
	evidence func(r *explain.Report) string
}

// deadlineExceeded takes precedence over causes: pods that were stopped have none of their own.
const deadlineExceeded = "deadline exceeded"

// ends are the words for each way in which Jobs end.
var ends = map[explain.EndedBy]endWords{
	explain.EndedByBackoffLimit: {
		column: "backoffLimit exceeded", mechanism: func(r *explain.Report) string { return backoffLimitText(&r.Verdict.End, "") }, sentence: backoffLimitSentence, evidence: backoffLimitEvidence,
	},
	explain.EndedByRestarts: {headline: restartsHeadline, evidence: backoffLimitEvidence},
	explain.EndedByDeadline: {column: deadlineExceeded, headline: deadlineHeadline, evidence: deadlineEvidence},
	explain.EndedByNeverStarting: {
		headline: neverStartedHeadline, mechanism: func(r *explain.Report) string { return deadlinePassed(&r.Verdict.End) },
		sentence: func(a *Answer) []string { return append(neverStartedHeadline(&a.End), deadlinePassed(&a.End)) }, evidence: deadlineEvidence,
	},
	explain.EndedByMaxFailedIndexes: {
		mechanism: func(r *explain.Report) string { return maxFailedIndexesText(&r.Verdict.End) }, evidence: maxFailedIndexesEvidence,
		sentence: func(a *Answer) []string {
			return append([]string{maxFailedIndexesText(&a.End)}, mostlyClauses(a.Mostly, "")...)
		},
	},
	explain.EndedByFailedIndexes: {mechanism: perIndexMechanism, sentence: failedIndexesSentence, evidence: failedIndexesEvidence},
	explain.EndedByRule:          {mechanism: ruleMechanism, sentence: ruleSentence},
	explain.EndedByOther:         {headline: otherHeadline},
	explain.EndedBySuccessPolicy: {mechanism: successRuleEvidence, evidence: successRuleEvidence},
	explain.EndedByCompletions:   {evidence: completionsEvidence},
}

// EndBriefly returns the limit that failed a Job in two words, "" if it has none.
func EndBriefly(by explain.EndedBy) string { return ends[by].column }

// EndHeadline returns what failed the Job if it was not the failure of a pod, else "".
func EndHeadline(v *explain.Verdict) string {
	if headline := ends[v.EndedBy].headline; headline != nil && v.Outcome.Fails() {
		return joined(headline(&v.End))
	}
	return ""
}

// endCause is EndHeadline without the limit if the end of a container explains it: a report on an owner has less room.
func endCause(v *explain.Verdict) string {
	if r := v.Restarts; v.EndedBy == explain.EndedByRestarts && v.Outcome.Fails() && (r.Exit != nil || r.Ending != nil) {
		return Clauses(slices.Delete(restartsHeadline(&v.End), 1, 2))
	}
	return EndHeadline(v)
}

// Mechanism returns the limit or the rule that made failures final, or that is met; "" if there is nothing to add.
func Mechanism(r *explain.Report) string {
	if mechanism := ends[r.Verdict.EndedBy].mechanism; mechanism != nil {
		return mechanism(r)
	}
	return ""
}

// LimitEvidence returns the limit of the spec that ended the Job, with how much of it is used; "" if it is unknown.
func LimitEvidence(r *explain.Report) string {
	if evidence := ends[r.Verdict.EndedBy].evidence; evidence != nil {
		return evidence(r)
	}
	return ""
}

// endSentence returns the clauses on the end of a Job that failed or is going to fail.
func endSentence(a *Answer) []string {
	of := ends[a.EndedBy]
	if of.sentence != nil {
		return of.sentence(a)
	}
	return append(of.headline(&a.End), mostlyClauses(a.Mostly, "")...)
}

func limitOf(e *explain.End) int32 { return int32(ptr.Deref(e.Limit, 0)) }

func backoffLimitSentence(a *Answer) []string {
	one := ""
	if a.Mostly == nil {
		one = "1 pod failed, and "
	}
	return append(mostlyClauses(a.Mostly, decidedTexts[a.Outcome]), backoffLimitText(&a.End, one))
}

// backoffLimitText explains that the Job failed by its backoffLimit; a single failure without a retry is introduced by one.
// The limit may have been lower than it is now.
func backoffLimitText(e *explain.End, one string) string {
	failed, limit := e.Counted, limitOf(e)
	pods := wording.Plural(failed, "pod failed", "pods failed")
	switch {
	case e.OnlyIndex != nil:
		pods = fmt.Sprintf("%s of index %d failed", wording.Plural(failed, "pod", "pods"), *e.OnlyIndex)
	case e.AtOnce > 0:
		pods = fmt.Sprintf("%s (parallelism %d)", pods, e.AtOnce)
	}
	switch {
	case failed <= limit:
		return fmt.Sprintf("its failures exceeded backoffLimit, which is %d now", limit)
	case limit == 0 && failed == 1:
		return one + "backoffLimit 0 allows no retries"
	case limit == 0:
		return pods + ", and backoffLimit 0 allows no retries"
	}
	return fmt.Sprintf("%s, and backoffLimit %d allows %s", pods, limit, wording.Plural(limit, "retry", "retries"))
}

// backoffLimitEvidence returns the backoffLimit and the number of failed pods. If restarts count, it adds their number,
// unless it is too low to explain the failure.
func backoffLimitEvidence(r *explain.Report) string {
	e := &r.Verdict.End
	restarts, known := e.Restarts, ""
	if restarts == nil {
		return fmt.Sprintf("backoffLimit %d: %s", limitOf(e), wording.Plural(e.Counted, "pod failed", "pods failed"))
	}
	if restarts.Exact {
		known = fmt.Sprintf(" (%s)", wording.Plural(restarts.Count, "restart", "restarts"))
	}
	return fmt.Sprintf("backoffLimit %d: with restartPolicy OnFailure, container restarts count too, each as it begins%s; %s", limitOf(e), known,
		wording.Plural(r.Counts.Failed+r.Counts.UncountedFailed, "pod counts as failed", "pods count as failed"))
}

// restartsHeadline explains that the Job failed by restarts: first how the container ended before its last one, if that is known.
func restartsHeadline(e *explain.End) (clauses []string) {
	r, limit := e.Restarts, limitOf(e)
	who, often := "containers of its pods were", wording.Plural(r.Count, "time", "times")
	switch {
	case r.Pod != "":
		who = fmt.Sprintf("container %s of pod %s was", r.Container, r.Pod)
	case r.Container != "":
		who = fmt.Sprintf("container %s was", r.Container)
	}
	beginning := room(decidedTexts[reconcile.OutcomeFailing])
	switch {
	case r.Ending != nil:
		clauses = endingQuote(&explain.Cause{Ended: explain.Ended{Ending: r.Ending, Message: r.Message}}).clauses(LowerFirst(r.Ending.Text()), beginning)
	case r.Exit != nil:
		clauses = lastExit(r, beginning)
	}
	if r.Container != "" && (r.Ending != nil || r.Exit != nil && r.Exit.Container == r.Container) {
		who = "it was"
	}
	if !r.Exact {
		often = "at least " + often
	}
	text := fmt.Sprintf("%s restarted %s, and backoffLimit %d allows no more", who, often, limit)
	if limit == 0 {
		text = fmt.Sprintf("%s restarted %s, and backoffLimit 0 allows no retries", who, often)
	}
	clauses = append(clauses, text)
	if len(r.Later) > 0 {
		clauses = append(clauses, NeverStartedText(r.Later))
	}
	if r.NoneLeft {
		clauses = append(clauses, "no pod or log of it is left")
	}
	return clauses
}

// lastExit returns how a container ended before its last restart, and why or what it waited for, as clauses of at most so many characters.
func lastExit(r *explain.Restarts, most int) []string {
	kind, last, quote := "container ", cause.ExitText(r.Exit.ExitCode, r.Exit.Reason), meant(r.Error, r.Message)
	if r.Init {
		kind = "init container "
	}
	if cause.NeverRan(r.Exit.Reason) && r.Error != nil { // The error says more than the reason.
		last = "could not be started"
	}
	if quote.message == "" {
		quote = initQuote(&explain.Problem{Role: explain.Role{Servers: r.Servers}}, time.Time{})
	}
	return quote.clauses(kind+r.Exit.Container+" "+last, most)
}

func deadlineHeadline(e *explain.End) []string {
	value, until := "no longer set", ""
	if e.Limit != nil {
		value = wording.Seconds(*e.Limit)
	}
	switch {
	case e.Outlived != nil:
		until = outlivedText(e.Outlived)
	case e.CutShort != nil:
		until = cutShortText(e.CutShort)
	case e.Looped != "":
		return loopedText(e, value)
	case e.Counted > 0:
		return []string{fmt.Sprintf("its %s, until activeDeadlineSeconds (%s) was over", wording.Plural(e.Counted, "pod failed", "pods failed"), value)}
	}
	return []string{fmt.Sprintf("it ran longer than its activeDeadlineSeconds (%s)", value), until}
}

func cutShortText(c *explain.CutShort) string {
	if c.Pods > 1 {
		return fmt.Sprintf("container %s of pod %s had run longest, for %s, when %d pods were stopped", c.Container, c.Pod, wording.Seconds(c.RanSeconds), c.Pods)
	}
	return fmt.Sprintf("container %s had run for %s when it was stopped", c.Container, wording.Seconds(c.RanSeconds))
}

// loopedText describes a container that was restarted until the deadline of the Job, which is not the cause.
func loopedText(e *explain.End, deadline string) []string {
	how := "failed and was restarted again and again"
	if e.LoopedExit != nil {
		how = cause.ExitText(e.LoopedExit.ExitCode, e.LoopedExit.Reason) + " and was restarted, again and again"
	}
	text := []string{fmt.Sprintf("container %s %s, until activeDeadlineSeconds (%s) was over", e.Looped, how, deadline)}
	if e.LoopedGone {
		text = append(text, "its pod and its log are gone")
	}
	return text
}

// deadlineEvidence returns activeDeadlineSeconds and how long the Job ran, if that is known.
func deadlineEvidence(r *explain.Report) string {
	e := &r.Verdict.End
	if e.Limit == nil {
		return ""
	}
	text := fmt.Sprintf("activeDeadlineSeconds %d", *e.Limit)
	if r.Job.Started != nil && e.DecidedAt != nil {
		text += ": the Job had run for " + wording.Age(e.DecidedAt.Sub(r.Job.Started.Time))
	}
	return text
}

func neverStartedHeadline(e *explain.End) []string { return neverStartedClauses(e.NeverStarted) }

// deadlinePassed returns a clause on a Job whose pods never started; the deadline may be unset now.
func deadlinePassed(e *explain.End) string {
	if e.Limit == nil {
		return "meanwhile, its activeDeadlineSeconds passed"
	}
	return fmt.Sprintf("meanwhile, its activeDeadlineSeconds (%s) passed", wording.Seconds(*e.Limit))
}

func maxFailedIndexesText(e *explain.End) string {
	return fmt.Sprintf("%s, and maxFailedIndexes allows %s", wording.Plural(e.FailedIndexCount, "index failed", "indexes failed"), wording.Thousands(limitOf(e)))
}

func maxFailedIndexesEvidence(r *explain.Report) string {
	e := &r.Verdict.End
	return fmt.Sprintf("maxFailedIndexes %d: %s failed (%s)", limitOf(e), wording.Plural(e.FailedIndexCount, "index", "indexes"), crop(e.FailedIndexes))
}

// perIndexMechanism explains why failed indexes have no attempts left: a rule fails all of them at once, or they have used all.
func perIndexMechanism(r *explain.Report) string {
	e := &r.Verdict.End
	switch limit := limitOf(e); {
	case e.IndexRule != nil:
		return RuleLabel(e.IndexRule.Rule, e.IndexRule.Name) + " of its podFailurePolicy fails an index at once"
	case limit == 0:
		return "backoffLimitPerIndex 0 allows an index no retries"
	default:
		return fmt.Sprintf("an index fails after %s (backoffLimitPerIndex %d)", attemptsText(limit), limit)
	}
}

// attemptsText returns how many pods an index may have.
func attemptsText(limitPerIndex int32) string {
	return wording.Plural(min(limitPerIndex, math.MaxInt32-1)+1, "attempt", "attempts")
}

func failedIndexesSentence(a *Answer) []string {
	completions := wording.Plural(ptr.Deref(a.Completions, 0), "index", "indexes")
	failed := fmt.Sprintf("%s of its %s failed", wording.Thousands(a.FailedIndexCount), completions)
	return append([]string{failed}, mostlyClauses(a.Mostly, "")...)
}

func failedIndexesEvidence(r *explain.Report) string {
	e := &r.Verdict.End
	limit, completions := limitOf(e), wording.Plural(ptr.Deref(r.Job.Completions, 0), "index", "indexes")
	return fmt.Sprintf("%s of %s failed (%s); each may have %s (backoffLimitPerIndex %d)", wording.Thousands(e.FailedIndexCount), completions, crop(e.FailedIndexes),
		attemptsText(limit), limit)
}

// ruleMechanism describes the rule, as far as it is known.
func ruleMechanism(r *explain.Report) string {
	e := &r.Verdict.End
	if p := r.FailurePolicy; p != nil && e.Rule != nil && int(*e.Rule) < len(p.Rules) {
		return RuleEvidence(&p.Rules[*e.Rule], e.RuleName)
	}
	return ruleOf(e) + " matched"
}

func ruleSentence(a *Answer) []string {
	clauses := inQuotes(", ", a.Message).clauses(ruleOf(&a.End)+" matched", room(decidedTexts[a.Outcome]))
	if a.Matched != nil {
		clauses = matchedClauses(ruleOf(&a.End), a.Matched)
	}
	if h := a.Hidden; h != nil {
		return append(clauses, fmt.Sprintf("container %s %s, and the rule does not look at it", h.Container, cause.ExitText(h.ExitCode, h.Reason)))
	}
	return clauses
}

// ruleOf names the rule that failed the Job, as far as it is known.
func ruleOf(e *explain.End) string {
	switch {
	case e.Rule != nil:
		return RuleLabel(*e.Rule, e.RuleName) + " of its podFailurePolicy"
	case e.RuleName != "":
		return fmt.Sprintf("rule %q of its podFailurePolicy", e.RuleName)
	}
	return "a rule of its podFailurePolicy"
}

// otherHeadline returns a reason that this project does not know.
func otherHeadline(e *explain.End) []string {
	if e.Message != "" {
		return inQuotes(", ", e.Message).clauses(e.Reason, room(decidedTexts[reconcile.OutcomeFailed]))
	}
	return []string{"reason " + e.Reason}
}

// successRuleEvidence describes the rule of the successPolicy that is met, if it is known.
func successRuleEvidence(r *explain.Report) string {
	if rule := r.SuccessPolicy.MetRule(); rule != nil {
		return fmt.Sprintf("rule %d of the successPolicy: %s succeeded", rule.Index, rule.Text)
	}
	return ""
}

func completionsEvidence(r *explain.Report) string {
	if r.Job.Completions == nil {
		return ""
	}
	return fmt.Sprintf("completions %d: %s", *r.Job.Completions, wording.Count(r.Counts.Completed, "succeeded"))
}
