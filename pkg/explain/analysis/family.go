package analysis

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/family"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// familyOf is the family of the Job, which failed are the failures of. It is nil if the Job is not a retry and has none,
// or if that is not known.
func familyOf(in *facts.Facts, failed *failures.Failures) *explain.Family {
	var jobs []*batchv1.Job
	inputs := map[*batchv1.Job]explain.Input{}
	for _, relative := range in.Relatives {
		relative.Now = in.Now
		jobs = append(jobs, relative.Job)
		inputs[relative.Job] = relative
	}
	all := retry.FamilyOf(in.Job, jobs)
	if !in.RelativesRead || len(all) == 1 && retry.AttemptOf(in.Job) == 0 {
		return nil
	}
	members := make([]family.Member, len(all))
	for i, job := range all {
		if job == in.Job {
			members[i] = memberOf(in, failed)
			continue
		}
		relative := facts.Establish(inputs[job])
		members[i] = memberOf(relative, failures.Find(relative, explain.Options{}))
	}
	return family.Of(in.Job, all, members)
}

// memberOf is what the family has of a Job: without failures that the end of the Job caused, or that a rule ignores.
func memberOf(in *facts.Facts, failed *failures.Failures) family.Member {
	m := family.Member{Job: in.Job, Status: Status(in.Job), Fate: in.Outcome.Fate, Reason: in.Outcome.Reason, Failures: map[int32]*cause.Failure{}}
	for i := range failed.All { // The latest first.
		f := &failed.All[i]
		if f.Consequence || f.Kind.Cause.Action == batchv1.PodFailurePolicyActionIgnore || m.Failures[f.Pod.Index] != nil {
			continue
		}
		m.Failures[f.Pod.Index] = &f.Kind.Cause.Failure
	}
	if groups := failed.Groups; len(groups) > 0 && !groups[0].Consequence {
		m.Most = &groups[0].Kind.Cause.Failure
	}
	return m
}
