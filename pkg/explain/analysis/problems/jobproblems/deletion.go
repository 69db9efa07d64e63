package jobproblems

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// OthersFinalizers returns the Job's finalizers that the garbage collector does not remove.
func OthersFinalizers(p *explain.Problem) []string {
	return slices.DeleteFunc(slices.Clone(p.Deletion.Finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
}

// longDeletion is more time than the garbage collector needs for a Job whose pods end in time.
const longDeletion = 5 * time.Minute

// HoldsEndedJob reports whether an obstacle keeps a Job whose outcome is decided from being deleted: other finalizers, no
// pods left to wait for, or a long wait.
func HoldsEndedJob(in *facts.Facts, p *explain.Problem) bool {
	if p.Kind != explain.ProblemDeleting {
		return false
	}
	lasts := p.Since != nil && in.Now.Sub(p.Since.Time) > longDeletion
	return p.Deletion.NoPods || len(OthersFinalizers(p)) > 0 || lasts
}

// Deletion finds a Job whose deletion waits for finalizers.
func Deletion(in *facts.Facts) []explain.Problem {
	if in.Job.DeletionTimestamp == nil || len(in.Job.Finalizers) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemDeleting, Blocks: true, Since: explain.TimeOf(in.Job.DeletionTimestamp.Time), Deletion: explain.Deletion{Finalizers: in.Job.Finalizers}}
	if slices.Contains(in.Job.Finalizers, metav1.FinalizerDeleteDependents) {
		for i := range in.Pods {
			p.AddPod(in.Pods[i].Name)
		}
		p.Deletion.NoPods = in.PodsRead && p.Count == 0 && len(in.Job.Finalizers) == 1
	}
	return one(p)
}
