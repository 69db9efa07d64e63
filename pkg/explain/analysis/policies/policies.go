// Package policies evaluates the policies of a Job, its limits, and its running clocks.
package policies

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/indexes"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// FailurePolicy returns the table of the rules, nil without a policy.
func FailurePolicy(in *facts.Facts, failed *failures.Failures) *explain.FailurePolicy {
	policy := in.Spec.PodFailurePolicy
	if policy == nil {
		return nil
	}
	out := &explain.FailurePolicy{}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		out.Rules = append(out.Rules, explain.FailureRule{
			Index: int32(i), Name: in.Names.Name(int32(i)), Action: string(rule.Action),
			OnExitCodes: rule.OnExitCodes, OnPodConditions: rule.OnPodConditions,
			Decided: in.Decision.Failing() && in.Decision.Rule == int32(i),
		})
	}
	for _, v := range in.Plan.Findings.Violations {
		out.NameViolations = append(out.NameViolations, v.String())
	}
	if !in.PodsRead {
		return out
	}

	// How many failed pods each rule matched, and the reasons why it did not match others.
	out.Unmatched = new(int32)
	for i := range out.Rules {
		out.Rules[i].Matched = new(int32)
	}
	whys := make([]map[failurepolicy.Why]int, len(out.Rules))
	for i := range failed.All {
		m := failed.All[i].Match
		if m == nil {
			continue
		}
		if m.Matched() {
			*out.Rules[m.Rule].Matched++
		} else {
			*out.Unmatched++
		}
		for _, p := range m.Passed {
			out.Rules[p.Rule].PassedOver++
			if whys[p.Rule] == nil {
				whys[p.Rule] = map[failurepolicy.Why]int{}
			}
			whys[p.Rule][p.Why]++
		}
	}
	for i, counts := range whys {
		out.Rules[i].Why = mostFrequent(counts)
		if out.Rules[i].Decided {
			*out.Rules[i].Matched = max(*out.Rules[i].Matched, 1) // The pod may no longer exist.
		}
	}
	if in.CountedFailures() > 0 && len(in.Pods) == 0 || len(in.Lost()) > 0 {
		forgetNone(out)
	}
	return out
}

// forgetNone removes the counts of 0, which are unknown if pods are gone.
func forgetNone(p *explain.FailurePolicy) {
	known := func(n *int32) *int32 {
		if *n == 0 {
			return nil
		}
		return n
	}
	p.Unmatched = known(p.Unmatched)
	for i := range p.Rules {
		p.Rules[i].Matched = known(p.Rules[i].Matched)
	}
}

func mostFrequent(counts map[failurepolicy.Why]int) string {
	var best failurepolicy.Why
	for why, n := range counts {
		if n > counts[best] || n == counts[best] && why < best {
			best = why
		}
	}
	if best == 0 {
		return ""
	}
	return best.String()
}

// SuccessPolicy returns the progress of the rules, nil without a policy.
func SuccessPolicy(in *facts.Facts) *explain.SuccessPolicy {
	policy := in.Spec.SuccessPolicy
	if policy == nil {
		return nil
	}
	out := &explain.SuccessPolicy{}
	for i, p := range in.Plan.Findings.SuccessRules {
		of := ptr.Deref(policy.Rules[i].SucceededIndexes, "")
		out.Rules = append(out.Rules, explain.SuccessRule{
			Index: int32(i), Have: p.Have, Need: p.Need, Of: of, Met: p.Met, Impossible: p.Inert || p.OutOfReach, Empty: p.Inert,
		})
	}
	return out
}

// WillFail reports whether the Job can no longer succeed: an index has failed, and no successPolicy rule can still be met.
func WillFail(in *facts.Facts, success *explain.SuccessPolicy) bool {
	return in.PerIndex() && !in.Plan.Findings.FailedIndexes.IsEmpty() && !success.IsPossible()
}

// BackoffLimit returns the distance from the backoffLimit, nil if there is no limit: with backoffLimitPerIndex the default
// is the largest int32.
func BackoffLimit(in *facts.Facts, failed *failures.Failures, a *account.Accounting) *explain.BackoffLimit {
	if in.Spec.BackoffLimit == nil || *in.Spec.BackoffLimit == math.MaxInt32 {
		return nil
	}
	f := in.Plan.Findings.BackoffLimit
	if f == nil { // The outcome is decided, or the pods could not be read: the status has numbers.
		f = &reconcile.BackoffLimit{Failures: in.CountedFailures(), Limit: jobspec.BackoffLimit(in.Spec)}
		if in.PodsRead && !in.Finished() && in.RestartsCount() {
			f.OnFailure, f.Restarts = true, failed.Restarts.Count
		}
		if failed.Restarts.FailedJob { // The pods may no longer exist, but their restarts reached the limit.
			f.OnFailure, f.Restarts = true, max(f.Restarts, f.Limit, 1)
		}
	}
	u := &explain.BackoffLimit{Unit: explain.LimitFailures, Used: f.Failures, Limit: f.Limit, Left: max(f.FailuresLeft(), 0)}
	u.NoRetries = in.QueueEnds() && !in.RestartsCount()
	if in.Decision.Decided() {
		// Pods that were stopped after the outcome was decided did not use up the limit.
		u.Used = a.CountedOwn()
		if in.Decision.EndedBy == explain.EndedByBackoffLimit {
			u.Used = a.Exceeding(u.Limit)
		}
		u.Left = max(u.Limit-u.Used+1, 0)
	}
	if f.OnFailure && (f.RestartsLeft() < f.FailuresLeft() || f.RestartsLeft() == f.FailuresLeft() && f.Restarts >= f.Failures) {
		u.Unit, u.Used, u.Left = explain.LimitRestarts, f.Restarts, max(f.RestartsLeft(), 0)
	}
	return u
}

// century limits countdowns, because activeDeadlineSeconds has no upper bound.
const century = 100 * 365 * 24 * time.Hour

// Clocks returns the running clocks, sorted by their ends.
func Clocks(in *facts.Facts) []explain.Wait {
	var out []explain.Wait
	add := func(w explain.Wait, until time.Time) {
		if until.After(in.Now) && until.Sub(in.Now) < century {
			w.Until = metav1.NewTime(until)
			out = append(out, w)
		}
	}
	suspended := jobspec.IsSuspended(in.Spec)
	if f := in.Plan.Findings.Backoff; f != nil {
		add(explain.Wait{Kind: explain.WaitBackoff, Failures: f.Failures}, f.Until)
	}
	if b := indexes.BackoffOf(in); !b.Indexes.IsEmpty() && !suspended {
		add(explain.Wait{Kind: explain.WaitIndexBackoff, Indexes: b.Indexes.String(), Count: int32(b.Indexes.Len()), NoRoom: b.NoRoom}, b.Until)
	}
	if end := in.Plan.Findings.Deadline; !end.IsZero() && !in.Decision.Decided() && !suspended {
		add(explain.Wait{Kind: explain.WaitDeadline, Seconds: *in.Spec.ActiveDeadlineSeconds}, end)
	}
	var lastGrace time.Time // when the last terminating pod should have ended
	for _, p := range in.Terminating {
		if end := p.DeletedAt.Add(p.Grace); end.After(lastGrace) {
			lastGrace = end
		}
	}
	add(explain.Wait{Kind: explain.WaitGrace, Count: int32(len(in.Terminating))}, lastGrace)
	if end, ttl := facts.FinishedAt(in.Job), in.Spec.TTLSecondsAfterFinished; end != nil && ttl != nil && in.Job.DeletionTimestamp == nil {
		add(explain.Wait{Kind: explain.WaitTTL, Seconds: int64(*ttl)}, end.Add(time.Duration(*ttl)*time.Second))
	}
	slices.SortStableFunc(out, func(x, y explain.Wait) int { return cmp.Or(x.Until.Compare(y.Until.Time), cmp.Compare(x.Kind, y.Kind)) })
	return out
}
