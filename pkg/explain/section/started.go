package section

import "github.com/batchjob-dev/kubectl-batchjob/pkg/explain"

// NotStarted returns a text for a Job without a start time. A suspended Job loses its start time, and may have run before.
func NotStarted(r *explain.Report) string {
	if HasRun(r) {
		return "stopped when it was suspended"
	}
	return "not started"
}

// HasRun reports whether pods of a Job without a start time have ended.
func HasRun(r *explain.Report) bool {
	return r.Job.Suspend && r.Counts.Succeeded+r.Counts.Failed > 0
}
