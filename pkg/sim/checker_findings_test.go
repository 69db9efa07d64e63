package sim

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// unexplained names what of the status that a plan leads to no Finding accounts for:
// every count, every time, and every condition of the controller's has one that says
// the same.
func unexplained(o reconcile.Observation, plan reconcile.Plan) []string {
	status := o.Job.Status
	switch mode := ptr.Deref(o.Job.Spec.CompletionMode, batchv1.NonIndexedCompletion); {
	case mode != batchv1.IndexedCompletion && mode != batchv1.NonIndexedCompletion:
		return nil // Nothing is decided for it.
	case plan.Status != nil:
		status = *plan.Status
	case !plan.IsEmpty():
		return nil // What the pods are changed to is explained with the status that says so.
	}
	e := evidence{about: map[string][]reconcile.Finding{}}
	for _, f := range plan.Findings {
		e.about[f.Explains] = append(e.about[f.Explains], f)
	}
	for name, n := range countsOf(&status) {
		e.want(n != 0, name, func(f reconcile.Finding) bool { return f.Count == n })
	}
	for name, at := range map[string]*metav1.Time{"startTime": status.StartTime, "completionTime": status.CompletionTime} {
		e.want(at != nil, name, func(f reconcile.Finding) bool { return f.Until.Equal(at.Time) })
	}
	for _, c := range status.Conditions {
		e.want(isOurs(c), string(c.Type), func(f reconcile.Finding) bool { return f.Reason == c.Reason && f.Message == c.Message })
	}
	return e.missing
}

// evidence are findings by what they explain.
type evidence struct {
	about   map[string][]reconcile.Finding
	missing []string
}

// want asks for a finding about something that is there, that says the right thing.
func (e *evidence) want(there bool, name string, says func(reconcile.Finding) bool) {
	if there && !slices.ContainsFunc(e.about[name], says) {
		e.missing = append(e.missing, fmt.Sprintf("no finding explains %s; there are %+v", name, e.about[name]))
	}
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
