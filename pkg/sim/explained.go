package sim

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// unexplained names what of the status that a plan leads to no Finding accounts for:
// every count, every time, and every condition of the controller's has one that says
// the same.
func unexplained(o reconcile.Observation, plan reconcile.Plan) (problems []string) {
	if o.Job.Spec.CompletionMode != nil && *o.Job.Spec.CompletionMode != batchv1.IndexedCompletion && *o.Job.Spec.CompletionMode != batchv1.NonIndexedCompletion {
		return nil // Nothing is decided for it.
	}
	status := o.Job.Status
	if plan.Status != nil {
		status = *plan.Status
	}
	about := map[string][]reconcile.Finding{}
	for _, f := range plan.Findings {
		about[f.Explains] = append(about[f.Explains], f)
	}
	any := func(name string, says func(reconcile.Finding) bool) {
		for _, f := range about[name] {
			if says(f) {
				return
			}
		}
		problems = append(problems, fmt.Sprintf("no finding explains %s; there are %+v", name, about[name]))
	}
	if plan.Status == nil && !plan.IsEmpty() {
		return nil // What the pods are changed to is explained with the status that says so.
	}
	for name, n := range countsOf(&status) {
		if n != 0 {
			any(name, func(f reconcile.Finding) bool { return f.Count == n })
		}
	}
	for name, at := range map[string]*metav1.Time{"startTime": status.StartTime, "completionTime": status.CompletionTime} {
		if at != nil {
			any(name, func(f reconcile.Finding) bool { return f.Until.Equal(at.Time) })
		}
	}
	for _, c := range status.Conditions {
		if isOurs(c) {
			any(string(c.Type), func(f reconcile.Finding) bool { return f.Reason == c.Reason && f.Message == c.Message })
		}
	}
	return problems
}

// countsOf are the counts of a status by field name; of a list of indexes its size.
func countsOf(s *batchv1.JobStatus) map[string]int32 {
	size := func(text string) int32 {
		set, _ := indexset.ParseTolerant(text, 1<<31-1)
		return int32(set.Len())
	}
	return map[string]int32{
		"active": s.Active, "ready": ptr.Deref(s.Ready, 0), "terminating": ptr.Deref(s.Terminating, 0),
		"succeeded": s.Succeeded, "failed": s.Failed,
		"completedIndexes": size(s.CompletedIndexes), "failedIndexes": size(ptr.Deref(s.FailedIndexes, "")),
		"uncountedTerminatedPods": int32(len(failedUIDs(s)) + len(succeededUIDs(s))),
	}
}

// isOurs says that a condition says something of the Job's life, and was not set to
// False by somebody (SUC-13).
func isOurs(c batchv1.JobCondition) bool {
	switch c.Type {
	case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
		return c.Status == "True"
	case batchv1.JobSuspended:
		return true
	}
	return false
}
