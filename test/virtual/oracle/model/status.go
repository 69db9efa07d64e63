package model

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// status is the status of the Job.
type status struct {
	start, end, ended time.Duration
	// suspended is the condition Suspended, ending SuccessCriteriaMet or FailureTarget, and terminal Complete or Failed;
	// nil if unset.
	suspended, ending, terminal *Condition
	succeeded, failed           int32
	// done and lost are completedIndexes and failedIndexes.
	done, lost indexes
}

func (b status) clone() status {
	b.done, b.lost = maps.Clone(b.done), maps.Clone(b.lost)
	return b
}

func (b status) report(o *Outcome, spec *batchv1.JobSpec) {
	for _, c := range []*Condition{b.suspended, b.ending, b.terminal} {
		if c != nil {
			o.Conditions = append(o.Conditions, *c)
		}
	}
	slices.SortFunc(o.Conditions, func(a, b Condition) int { return cmp.Compare(a.Type, b.Type) })
	o.Succeeded, o.Failed = b.succeeded, b.failed
	o.CompletedIndexes, o.FailedIndexes = b.done.String(), "nil"
	if spec.BackoffLimitPerIndex != nil {
		o.FailedIndexes = b.lost.String()
	}
	o.Start, o.End, o.Finished = b.start, b.end, b.ended
	slices.SortFunc(o.Pods, func(a, b Made) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Nth, b.Nth)) })
}

// pasts holds the ends of all pods in the status that matter for the back-off.
type pasts struct {
	failures    []time.Duration
	lastSuccess time.Duration
}

// delay returns when the Job may create pods again (JOB-18): failures that finished after the last success count, and
// the wait begins with the last failure.
func (p pasts) delay() time.Duration {
	n, last := 0, time.Duration(0)
	for _, at := range p.failures {
		if at > p.lastSuccess {
			n++
			last = max(last, at)
		}
	}
	if n == 0 {
		return 0
	}
	return last + backoff(n)
}

// backoff returns 10 s, 20 s, 40 s … and at most 10 min.
func backoff(failures int) time.Duration {
	wait := 10 * time.Second
	for ; failures > 1 && wait < 10*time.Minute; failures-- {
		wait *= 2
	}
	return min(wait, 10*time.Minute)
}
