package invariants

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// AtRest is L2, when nothing happens any more: a finished Job has let go of its pods, and
// no pod that has ended holds the tracking finalizer of a Job that is gone.
func AtRest(versions []history.Version) (violations []Violation) {
	jobs, pods := map[types.UID]history.Version{}, map[types.UID]history.Version{}
	for _, v := range versions {
		if v.Job != nil {
			jobs[v.Job.UID] = v
		} else {
			pods[v.Pod.UID] = v
		}
	}
	for _, v := range pods {
		job := jobs[jobOf(v)]
		if job.Job == nil || v.Gone || !history.IsTracked(v.Pod) {
			continue
		}
		isFinished := !job.Gone && history.IsFinished(job.Job) && history.JobOf(v.Pod) == job.Job.UID
		if state := "gone"; isFinished || job.Gone && history.HasEnded(v.Pod) {
			if isFinished {
				state = "finished"
			}
			says := fmt.Sprintf("the Job is %s, and pod %s holds its finalizer", state, v.Pod.Name)
			violations = append(violations, Violation{Invariant: "L2", Job: job.Job, Revision: v.Revision, Says: says})
		}
	}
	return ordered(violations)
}
