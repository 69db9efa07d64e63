package tui

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
)

// maxSamples is how many are kept; when there are more, every other is dropped.
const maxSamples = 200

// estimate notes how much has succeeded, and when the rest may have.
func (j *jobData) estimate() {
	done, total := j.done()
	started := j.begun(done)
	j.sample(eta.Progress{Time: j.ObservedAt.Time, Done: done})
	if j.Indexes != nil {
		total -= j.Indexes.FailedCount // They will not succeed any more.
	}
	if total <= 0 || j.Job.Started.IsZero() || j.Verdict.Fate != explain.FateOpen || j.Verdict.Stalled || j.Job.Suspend {
		return
	}
	j.eta = eta.Estimate(j.samples, started, total, j.ObservedAt.Time)
	if j.eta.Known && done < total {
		j.eta.Remaining = max(j.eta.Remaining, lastRetry(j.Report).Sub(j.ObservedAt.Time))
	}
	if j.SuccessPolicy != nil {
		j.etaTo = total
	}
}

// sample keeps how much has succeeded, if that is news.
func (j *jobData) sample(now eta.Progress) {
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

// begun is the start of the Job, for an Estimate. A Job that was resumed has a new
// startTime, and what it did before says nothing of how fast it is now: unless that was
// seen, its pods tell, and if some are gone, nobody does, and it is zero.
func (j *jobData) begun(done int32) time.Time {
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

// wasResumed says that the Job was suspended for a while.
func wasResumed(r *explain.Report) bool {
	for i := range r.Conditions {
		if c := &r.Conditions[i]; c.Type == string(batchv1.JobSuspended) {
			return c.Status == string(corev1.ConditionFalse)
		}
	}
	return false
}

// succeededBefore is how many of the pods that are there had succeeded at a time, and how
// many have at all.
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

// lastRetry is when the last back-off that runs has ended, zero if none runs: the Job needs
// that long at least.
func lastRetry(r *explain.Report) time.Time {
	var last time.Time
	for _, kind := range []explain.WaitKind{explain.WaitBackoff, explain.WaitIndexBackoff} {
		if w := waitOf(r, kind); w != nil && w.Until.After(last) {
			last = w.Until.Time
		}
	}
	if r.Indexes == nil {
		return last
	}
	for i := range r.Indexes.Details {
		if until := r.Indexes.Details[i].Until; until != nil && until.After(last) {
			last = until.Time
		}
	}
	return last
}
