package analysis

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// clocks are those that run, the one that ends first first.
func (a *analysis) clocks() []explain.Wait {
	var out []explain.Wait
	add := func(w explain.Wait, until time.Time) {
		if until.After(a.Now) {
			w.Until = metav1.NewTime(until)
			w.Text = words.WaitText(&w)
			out = append(out, w)
		}
	}
	suspended := jobspec.IsSuspended(a.spec)
	if f := a.plan.Findings.Backoff; f != nil {
		add(explain.Wait{Kind: explain.WaitBackoff, Failures: f.Failures}, f.Until)
	}
	if until, waiting := a.indexBackoff(); !waiting.IsEmpty() && !suspended {
		add(explain.Wait{Kind: explain.WaitIndexBackoff, Indexes: waiting.String(), Count: int32(waiting.Len()), NoRoom: !a.roomForRetries()}, until)
	}
	if end := a.plan.Findings.Deadline; !end.IsZero() && !a.fate.decided() && !suspended {
		add(explain.Wait{Kind: explain.WaitDeadline, Seconds: *a.spec.ActiveDeadlineSeconds}, end)
	}
	if last, n := a.lastGrace(); n > 0 {
		add(explain.Wait{Kind: explain.WaitGrace, Count: n}, last)
	}
	if end, ttl := FinishedAt(a.job), a.spec.TTLSecondsAfterFinished; end != nil && ttl != nil && a.job.DeletionTimestamp == nil {
		add(explain.Wait{Kind: explain.WaitTTL, Seconds: int64(*ttl)}, end.Add(time.Duration(*ttl)*time.Second))
	}
	slices.SortStableFunc(out, func(x, y explain.Wait) int { return cmp.Or(x.Until.Compare(y.Until.Time), cmp.Compare(x.Kind, y.Kind)) })
	return out
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
