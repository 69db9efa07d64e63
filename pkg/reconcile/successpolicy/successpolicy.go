// Package successpolicy evaluates spec.successPolicy on the indexes that have succeeded: which rule is met first, and
// the progress of each rule (KEP-3998).
//
// The caller passes the success set of SUC-08, which has no index at or above
// spec.completions. Nothing here keeps state or returns an error: a rule that cannot be
// parsed is inert. The cost depends on intervals and bytes of text, never on indexes
// (SUC-22).
package successpolicy

import (
	"fmt"
	"math"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// NoRule is the rule that Evaluate returns if no rule is met.
const NoRule = -1

// Progress is how close a rule is to being met, in indexes.
type Progress struct {
	// Have is the number of indexes that have succeeded, among succeededIndexes if the rule has that field. Need is the
	// number required: succeededCount, or all of succeededIndexes, or the smaller of the two. A succeededCount of 0
	// alone needs the first success (D-03); together with a list it needs none of the listed indexes, but still one
	// success anywhere.
	Have, Need int32
	// Met reports whether the rule is met, OutOfReach whether it can no longer be met: too many of its indexes have
	// failed, or are out of range.
	Met, OutOfReach bool
	// Inert reports whether no success can ever meet the rule: succeededIndexes is
	// empty or cannot be parsed, or the rule has no fields. Have and Need are then 0.
	Inert bool
}

// Evaluate finds the first rule that the succeeded indexes meet, or NoRule, and the progress of every rule, including
// later rules. No rule is met before the first success (SUC-07). A nil policy has no rules. Failed indexes, and indexes
// at or above completions, can no longer succeed.
//
// It allocates only the progress, and an error for each list that cannot be parsed.
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

// ended holds the indexes of a Job that have succeeded or failed.
type ended struct {
	succeeded, failed indexset.Set
	completions       int32
	// have is the number of indexes that have succeeded, open the number that have succeeded or still can.
	have, open int
}

// measure returns the progress of one rule.
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
		// The API server rejects a count above the number of listed indexes; the
		// built-in controller would accept all of them.
		need = min(need, *rule.SucceededCount)
	}
	return e.progress(have, open, need)
}

// progress returns the progress of a rule, given how many of its indexes have succeeded, and how many have succeeded or
// still can (open).
func (e *ended) progress(have, open int, need int32) Progress {
	p := Progress{Have: clamp(have), Need: need}
	p.Met = e.have > 0 && p.Have >= p.Need
	p.OutOfReach = !p.Met && open < int(need)
	return p
}

// count returns the number of listed indexes that have succeeded, the number that have succeeded or still can, and the
// number of all. All are 0 if the list is empty or cannot be parsed.
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

// clamp limits the length of the list "0-2147483647" to an int32: completions is also an int32, so no Job has the index
// 2147483647.
func clamp(n int) int32 { return int32(min(n, math.MaxInt32)) }

// Message returns the message of the condition SuccessCriteriaMet, in the built-in
// controller's words (SUC-03). Rules are counted from 0.
func Message(rule int) string { return fmt.Sprintf("Matched rules at index %d", rule) }
