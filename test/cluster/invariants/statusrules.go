package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// checkStatus checks the rules that the API server enforces for a status (STV-01..21), which older API servers do not, and two
// stricter ones.
func (c *checker) checkStatus(old, job *batchv1.Job) {
	for _, p := range sim.ValidateStatus(old, job) {
		c.violate(job, p.Origin, "%s: %s", p.Field, p.Detail)
	}
	isGone := func(was batchv1.JobCondition) bool {
		return !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == was.Type })
	}
	if slices.ContainsFunc(old.Status.Conditions, isGone) {
		c.violate(job, "STV-09", "a condition is gone")
	}
	complete, at := history.Condition(job, batchv1.JobComplete), job.Status.CompletionTime
	// The built-in controller reads the clock twice.
	if complete != nil && at != nil && !history.IsBuiltIn(job) && !at.Equal(&complete.LastTransitionTime) {
		c.violate(job, "STV-10", "completionTime is not the time of the condition Complete")
	}
}
