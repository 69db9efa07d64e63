package invariants

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// AtRest checks L2 once nothing happens anymore: a finished Job has released its pods, and no ended pod of a deleted Job
// has the tracking finalizer.
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
		owner := jobs[jobOf(v)]
		if state := holdsOnTo(owner, v); state != "" {
			text := fmt.Sprintf("the Job is %s, and pod %s holds its finalizer", state, v.Pod.Name)
			violations = append(violations, Violation{Invariant: "L2", Job: owner.Job, Revision: v.Revision, Text: text})
		}
	}
	return ordered(violations)
}

// holdsOnTo returns why the pod should not have its finalizer, or "".
func holdsOnTo(owner, pod history.Version) string {
	switch {
	case owner.Job == nil || pod.Gone || !history.IsTracked(pod.Pod):
		return ""
	case owner.Gone:
		return rules.When(history.HasEnded(pod.Pod), "gone")
	}
	return rules.When(history.IsFinished(owner.Job) && history.JobOf(pod.Pod) == owner.Job.UID, "finished")
}
