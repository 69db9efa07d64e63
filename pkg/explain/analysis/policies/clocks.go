package policies

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/indexes"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

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
	if last, n := lastGrace(in); n > 0 {
		add(explain.Wait{Kind: explain.WaitGrace, Count: n}, last)
	}
	if end, ttl := facts.FinishedAt(in.Job), in.Spec.TTLSecondsAfterFinished; end != nil && ttl != nil && in.Job.DeletionTimestamp == nil {
		add(explain.Wait{Kind: explain.WaitTTL, Seconds: int64(*ttl)}, end.Add(time.Duration(*ttl)*time.Second))
	}
	slices.SortStableFunc(out, func(x, y explain.Wait) int { return cmp.Or(x.Until.Compare(y.Until.Time), cmp.Compare(x.Kind, y.Kind)) })
	return out
}

// lastGrace returns when the last terminating pod should have ended, and the number of terminating pods.
func lastGrace(in *facts.Facts) (last time.Time, n int32) {
	for _, p := range in.Terminating {
		n++
		if end := p.DeletedAt.Add(p.Grace); end.After(last) {
			last = end
		}
	}
	return last, n
}
