// Package successpolicy evaluates spec.successPolicy on the indexes that have
// succeeded: which rule is met first, and how far each rule is (KEP-3998).
//
// The caller gives the success set of SUC-08, which has no index at or above
// spec.completions. Nothing here keeps state or returns an error: a rule that cannot
// be read is inert. Cost follows intervals and bytes of text, never indexes (SUC-22).
package successpolicy

import (
	"fmt"
	"math"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// NoRule is what Evaluate returns if no rule is met.
const NoRule = -1

// Progress says how far a rule is, in indexes.
type Progress struct {
	// Have is how many indexes have succeeded, of those that succeededIndexes lists
	// if the rule has it. Need is how many make the rule met: succeededCount, or all
	// that are listed, the smaller of the two if the rule has both. A succeededCount of
	// 0 alone needs the first success (D-03); next to a list it needs none of the
	// listed, but still one success anywhere.
	Have, Need int32
	// Met reports whether the rule is met. OutOfReach says that so many of its indexes have
	// failed, or are not indexes of the Job any more, that the others are not enough.
	Met, OutOfReach bool
	// Inert says that no success will ever meet the rule: succeededIndexes is empty
	// or cannot be read, or the rule has no field at all. Have and Need are then 0.
	Inert bool
}

// Evaluate finds the first rule that the succeeded indexes meet, or NoRule, and the
// progress of every rule, also of those after it. While nothing has succeeded no rule
// is met (SUC-07). A nil policy has no rules. Failed indexes, and those at or above
// completions, can succeed no more.
//
// Only the progress is allocated, and an error for each list that cannot be read.
func Evaluate(policy *batchv1.SuccessPolicy, succeeded, failed indexset.Set, completions int32) (rule int, progress []Progress) {
	if policy == nil {
		return NoRule, nil
	}
	rule, progress = NoRule, make([]Progress, len(policy.Rules))
	e := ended{succeeded, failed, completions, succeeded.Len(), int(completions) - failed.Len()}
	for i := range policy.Rules {
		progress[i] = e.measure(&policy.Rules[i])
		if progress[i].Met && rule == NoRule {
			rule = i
		}
	}
	return rule, progress
}

// ended is what the indexes of a Job have come to.
type ended struct {
	succeeded, failed indexset.Set
	completions       int32
	// have is how many have succeeded, open how many have or still can.
	have, open int
}

// measure is the progress of one rule.
func (e *ended) measure(rule *batchv1.SuccessPolicyRule) Progress {
	if rule.SucceededIndexes == nil {
		if rule.SucceededCount == nil {
			return Progress{Inert: true}
		}
		return e.progress(e.have, e.open, max(*rule.SucceededCount, 1))
	}
	have, open, listed := e.count(*rule.SucceededIndexes)
	if listed == 0 {
		return Progress{Inert: true}
	}
	need := clamp(listed)
	if rule.SucceededCount != nil {
		// The API server takes no count above the number of listed indexes; the
		// built-in controller would be content with all of them.
		need = min(need, *rule.SucceededCount)
	}
	return e.progress(have, open, need)
}

// progress is that of a rule of whose indexes so many have succeeded, and so many have or
// still can.
func (e *ended) progress(have, open int, need int32) Progress {
	p := Progress{Have: clamp(have), Need: need}
	p.Met = e.have > 0 && p.Have >= p.Need
	p.OutOfReach = !p.Met && open < int(need)
	return p
}

// count counts the indexes in the list, those of them that have succeeded, and those that
// have or still can. All are 0 if the list cannot be read, or is empty.
func (e *ended) count(list string) (have, open, listed int) {
	succeeded, failed := e.succeeded.Cursor(), e.failed.Cursor()
	for iv, err := range indexset.Scan(list) {
		if err != nil {
			return 0, 0, 0
		}
		listed += iv.Len()
		have += succeeded.Count(iv)
		beyond := max(0, int(iv.Last)-max(int(iv.First), int(e.completions))+1)
		open += iv.Len() - beyond - failed.Count(iv)
	}
	return have, open, listed
}

// clamp leaves out the one index too many of the list "0-2147483647": completions is
// an int32 too, so no Job has the index 2147483647.
func clamp(n int) int32 { return int32(min(n, math.MaxInt32)) }

// Message is that of the condition SuccessCriteriaMet for a rule, counted from 0, in
// the built-in controller's words (SUC-03).
func Message(rule int) string { return fmt.Sprintf("Matched rules at index %d", rule) }
