package analysis

import (
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// jobOf is what the Job is and asks for.
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
	}
	if j.Started != nil {
		end := in.Now
		if j.Finished != nil {
			end = j.Finished.Time
		}
		seconds := max(0, end.Unix()-j.Started.Unix()) // A Duration ends after 292 years.
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
