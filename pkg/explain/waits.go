package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// waits are the clocks that run, the one that ends first first.
func (a *analysis) waits() []Wait {
	var out []Wait
	add := func(kind WaitKind, until time.Time, text string) *Wait {
		if !until.After(a.Now) {
			return &Wait{}
		}
		out = append(out, Wait{Kind: kind, Until: metav1.NewTime(until), Text: text})
		return &out[len(out)-1]
	}
	if f := a.plan.Findings.Backoff; f != nil {
		add(WaitBackoff, f.Until, fmt.Sprintf("pods are created again, after %s", times(f.Failures, "failure in a row", "failures in a row"))).Failures = f.Failures
	}
	if until, waiting := a.indexBackoff(); !waiting.IsEmpty() && !jobspec.IsSuspended(a.spec) {
		add(WaitIndexBackoff, until, a.retryText(waiting)).Indexes = waiting.String()
	}
	if end := a.plan.Findings.Deadline; !end.IsZero() && !a.fate.decided() && !jobspec.IsSuspended(a.spec) {
		add(WaitDeadline, end, fmt.Sprintf("the Job fails if it is not finished (activeDeadlineSeconds %d)", *a.spec.ActiveDeadlineSeconds))
	}
	if last, n := a.lastGrace(); n > 0 {
		add(WaitGrace, last, fmt.Sprintf("the grace period of %s is over", times(n, "terminating pod", "terminating pods")))
	}
	if end, ttl := FinishedAt(a.job), a.spec.TTLSecondsAfterFinished; end != nil && ttl != nil && a.job.DeletionTimestamp == nil {
		add(WaitTTL, end.Add(time.Duration(*ttl)*time.Second), fmt.Sprintf("the Job and its pods are deleted (ttlSecondsAfterFinished %d)", *ttl))
	}
	slices.SortStableFunc(out, func(x, y Wait) int { return cmp.Or(x.Until.Compare(y.Until.Time), cmp.Compare(x.Kind, y.Kind)) })
	return out
}

// retryText is what happens when the first of the indexes that wait may go on.
func (a *analysis) retryText(waiting indexset.Set) string {
	who := fmt.Sprintf("index %s", waiting)
	if waiting.Len() > 1 {
		who = fmt.Sprintf("the first of %d indexes in back-off", waiting.Len())
	}
	if a.roomForRetries() {
		return who + " gets its next pod"
	}
	return who + " may get its next pod, when there is room for it"
}

// lastGrace is when the last terminating pod should have ended, and how many there are.
func (a *analysis) lastGrace() (last time.Time, n int32) {
	for _, p := range a.terminating {
		n++
		if end := p.DeletedAt.Add(p.Grace); end.After(last) {
			last = end
		}
	}
	return last, n
}

// times is "1 pod" or "2 pods".
func times(n int32, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
