package jobproblems

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// OthersFinalizers are those that hold the Job and that the garbage collector does not remove.
func OthersFinalizers(p *explain.Problem) []string {
	return slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
}

// longDeletion is longer than the garbage collector takes for a Job whose pods end in time.
const longDeletion = 5 * time.Minute

// HoldsEndedJob reports whether something keeps a Job whose end is decided from being deleted: without pods to wait for, or
// for long.
func HoldsEndedJob(in *facts.Facts, p *explain.Problem) bool {
	if p.Kind != explain.ProblemDeleting {
		return false
	}
	lasts := p.Since != nil && in.Now.Sub(p.Since.Time) > longDeletion
	return p.NoPods || len(OthersFinalizers(p)) > 0 || lasts
}

// Deletion: the Job itself is being deleted, and something holds it.
func Deletion(in *facts.Facts) []explain.Problem {
	if in.Job.DeletionTimestamp == nil || len(in.Job.Finalizers) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemDeleting, Blocks: true, Since: explain.TimeOf(in.Job.DeletionTimestamp.Time), Finalizers: in.Job.Finalizers}
	if slices.Contains(in.Job.Finalizers, metav1.FinalizerDeleteDependents) {
		for i := range in.Pods {
			p.AddPod(in.Pods[i].Name)
		}
		p.NoPods = in.PodsRead && p.Count == 0 && len(in.Job.Finalizers) == 1
	}
	return one(p)
}
