package screen

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// maxSamples is the maximum number of samples; beyond it, every other sample is dropped.
const maxSamples = 200

// estimate records the number of successes, and estimates the time until the rest has succeeded.
func (j *Job) estimate() {
	done, total := j.Done()
	started := j.begun(done)
	j.sample(eta.Progress{Time: j.ObservedAt.Time, Done: done})
	if j.Indexes != nil {
		total -= j.Indexes.FailedCount // Failed indexes will not succeed anymore.
	}
	if total <= 0 || j.Job.Started.IsZero() || j.Verdict.Outcome != reconcile.OutcomeOpen || j.Verdict.Stalled || j.Job.Suspend {
		return
	}
	j.ETA = eta.Estimate(j.samples, started, total, j.ObservedAt.Time)
	if j.ETA.Known && done < total {
		j.ETA.Remaining = max(j.ETA.Remaining, j.lastRetry().Sub(j.ObservedAt.Time))
	}
	if j.SuccessPolicy != nil {
		j.ETATotal = total
	}
}

// sample stores the number of successes if it has changed.
func (j *Job) sample(now eta.Progress) {
	if n := len(j.samples); n == 0 || j.samples[n-1].Done != now.Done {
		j.samples = append(j.samples[:n:n], now)
	}
	if len(j.samples) <= maxSamples {
		return
	}
	kept := make([]eta.Progress, 0, maxSamples)
	for i := range j.samples {
		if i%2 == 0 || i == len(j.samples)-1 {
			kept = append(kept, j.samples[i])
		}
	}
	j.samples = kept
}

// begun returns the start of the Job for an estimate. A resumed Job has a new startTime, and its successes before that must
// not count. Their number is known if the Job was watched at that time, or if all of its pods still exist; otherwise begun
// returns zero.
func (j *Job) begun(done int32) time.Time {
	if j.Job.Started == nil {
		return time.Time{}
	}
	started := j.Job.Started.Time
	if !wasResumed(j.Report) || len(j.samples) > 0 && !j.samples[0].Time.After(started) {
		return started
	}
	if len(j.samples) > 0 {
		return time.Time{}
	}
	before, all := succeededBefore(j.Report, started)
	if all != done || !started.Before(j.ObservedAt.Time) {
		return time.Time{}
	}
	j.samples = []eta.Progress{{Time: started, Done: before}}
	return started
}

// wasResumed reports whether the Job was suspended and then resumed.
func wasResumed(r *explain.Report) bool {
	for i := range r.Conditions {
		if c := &r.Conditions[i]; c.Type == string(batchv1.JobSuspended) {
			return c.Status == string(corev1.ConditionFalse)
		}
	}
	return false
}

// succeededBefore returns how many of the existing pods had succeeded at a time, and how many have succeeded in total.
func succeededBefore(r *explain.Report, at time.Time) (before, all int32) {
	for i := range r.Pods {
		p := &r.Pods[i]
		if p.Phase != string(corev1.PodSucceeded) {
			continue
		}
		if all++; p.Ended != nil && !p.Ended.After(at) {
			before++
		}
	}
	return before, all
}

// lastRetry returns when the last back-off ends, or zero without a back-off. The Job takes at least that long.
func (j *Job) lastRetry() time.Time {
	var last time.Time
	for _, kind := range []explain.WaitKind{explain.WaitBackoff, explain.WaitIndexBackoff} {
		if w := j.Wait(kind); w != nil && w.Until.After(last) {
			last = w.Until.Time
		}
	}
	if j.Indexes == nil {
		return last
	}
	for i := range j.Indexes.Details {
		if until := j.Indexes.Details[i].Until; until != nil && until.After(last) {
			last = until.Time
		}
	}
	return last
}
