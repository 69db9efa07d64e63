package analysis

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// jobOf returns the identity and the spec of the Job.
func jobOf(in *facts.Facts) explain.Job {
	job, spec := in.Job, in.Spec
	j := explain.Job{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID),
		Created: explain.TimeOf(job.CreationTimestamp.Time), Started: facts.KnownTime(job.Status.StartTime), Finished: facts.FinishedAt(job),
		CompletionMode: string(jobspec.CompletionMode(spec)),
		Completions:    spec.Completions, Parallelism: spec.Parallelism, BackoffLimit: spec.BackoffLimit,
		BackoffLimitPerIndex: spec.BackoffLimitPerIndex, MaxFailedIndexes: spec.MaxFailedIndexes,
		ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds, TTLSecondsAfterFinished: spec.TTLSecondsAfterFinished,
		PodReplacementPolicy: string(jobspec.PodReplacementPolicy(spec)),
		RestartPolicy:        string(spec.Template.Spec.RestartPolicy),
		Suspend:              jobspec.IsSuspended(spec),
		ManagedBy:            ptr.Deref(spec.ManagedBy, ""),
		Owner:                facts.OwnerOf(job),
		Manual:               facts.OwnerOf(job) != nil && input.IsManual(job),
		Tool:                 facts.ToolOf(job),
		Earlier:              facts.EarlierOf(in),
	}
	if j.Started != nil {
		end := in.Now
		if j.Finished != nil {
			end = j.Finished.Time
		}
		seconds := max(0, end.Unix()-j.Started.Unix()) // A time.Duration ends at 292 years.
		j.DurationSeconds = &seconds
	}
	return j
}

func conditions(in *facts.Facts) []explain.Condition {
	var out []explain.Condition
	for _, c := range in.Job.Status.Conditions {
		out = append(out, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: explain.TimeOf(c.LastTransitionTime.Time),
		})
	}
	return out
}

// The status lags behind the pods. The numbers of a Job that is not finished come from the pods if they could be read, as
// in Report.Indexes: numbers that are shown together must agree.

// countsOf returns the numbers of the status, and of the pods that exist. byState is nil for a NonIndexed Job.
func countsOf(in *facts.Facts, failed *failures.Failures, byState *explain.Indexes) explain.Counts {
	status := &in.Job.Status
	c := explain.Counts{Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed}
	if u := status.UncountedTerminatedPods; u != nil {
		c.UncountedSucceeded, c.UncountedFailed = int32(len(u.Succeeded)), int32(len(u.Failed))
	}
	c.Completed = completed(in, c.UncountedSucceeded, byState)
	for i := range failed.All {
		if failed.All[i].Ignored() {
			c.IgnoredFailures++
		}
	}
	if !in.PodsRead {
		return c
	}
	recorded := in.RecordedAs()
	for i := range failed.All { // A pod that terminates may be due for replacement before it has failed.
		if recorded[failed.All[i].Pod.UID] == explain.AwaitsReplacement {
			c.AwaitReplacement++
		}
		if f := &failed.All[i]; f.Pod.Phase == corev1.PodFailed && f.Stopped != "" {
			c.StoppedPods++
		}
	}
	c.Pods, c.FailedPods, c.Finalizers = ptr.To(int32(len(in.Pods))), ptr.To(in.FailedPods), ptr.To(in.TrackedPods)
	ready := int32(0)
	for _, p := range in.Active {
		if p.Ready {
			ready++
		}
	}
	c.ActivePods, c.ReadyPods, c.TerminatingPods = ptr.To(int32(len(in.Active))), ptr.To(ready), ptr.To(int32(len(in.Terminating)))
	return c
}

// completed returns how many indexes, or pods of a NonIndexed Job, have succeeded, counted or not.
func completed(in *facts.Facts, uncounted int32, byState *explain.Indexes) int32 {
	if byState != nil {
		return byState.CompletedCount
	}
	n := in.Job.Status.Succeeded + uncounted
	for _, p := range in.Terminal {
		if p.Phase == corev1.PodSucceeded && in.NotRecorded(p) && !in.Finished() { // A finished Job has counted all.
			n++
		}
	}
	return n
}
