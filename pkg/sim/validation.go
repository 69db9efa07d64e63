package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// statusRule is one rule that the API server enforces on a write to /status
// (requirements STV-01..21). broken returns how the write breaks it, or "".
type statusRule struct {
	id     string
	path   string
	broken func(old, next *jobView) string
}

// jobView is a Job with the methods that the rules need.
type jobView struct {
	*batchv1.Job
	complete, failed, failureTarget, successCriteriaMet, suspended bool
}

func view(job *batchv1.Job) *jobView {
	is := func(t batchv1.JobConditionType) bool {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == t && c.Status == corev1.ConditionTrue
		})
	}
	return &jobView{job, is(batchv1.JobComplete), is(batchv1.JobFailed), is(batchv1.JobFailureTarget),
		is(batchv1.JobSuccessCriteriaMet), is(batchv1.JobSuspended)}
}

func (v *jobView) finished() bool { return v.complete || v.failed }

func (v *jobView) indexed() bool { return isIndexed(&v.Spec) }

func validateStatus(old, next *batchv1.Job) field.ErrorList {
	var list field.ErrorList
	before, after := view(old), view(next)
	for _, rule := range statusRules {
		if problem := rule.broken(before, after); problem != "" {
			list = append(list, field.Invalid(field.NewPath("status").Child(rule.path), field.OmitValueType{}, rule.id+": "+problem))
		}
	}
	return list
}

func when(broken bool, problem string) string {
	if broken {
		return problem
	}
	return ""
}

var statusRules = []statusRule{
	{"STV-01", "active", func(_, n *jobView) string {
		s := n.Status
		return when(min(s.Active, s.Succeeded, s.Failed, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0)) < 0, "a count is negative")
	}},
	{"STV-02", "uncountedTerminatedPods", func(_, n *jobView) string { return uncountedProblem(n.Status.UncountedTerminatedPods) }},
	{"STV-03", "conditions", func(o, n *jobView) string {
		return when(n.complete && n.failed && (o.complete != n.complete || o.failed != n.failed), "Complete and Failed at once")
	}},
	{"STV-04", "conditions", func(o, n *jobView) string {
		changed := o.complete != n.complete || o.failureTarget != n.failureTarget
		return when(changed && n.complete && n.failureTarget, "Complete and FailureTarget at once")
	}},
	{"STV-05", "conditions", func(_, n *jobView) string {
		return when(n.successCriteriaMet && (n.failed || n.failureTarget), "SuccessCriteriaMet with Failed or FailureTarget")
	}},
	{"STV-06", "conditions", func(o, n *jobView) string {
		changed := o.failed != n.failed || !ptr.Equal(o.Status.FailedIndexes, n.Status.FailedIndexes)
		return when(changed && n.failed && !n.failureTarget, "Failed without FailureTarget")
	}},
	{"STV-07", "conditions", func(o, n *jobView) string {
		changed := o.complete != n.complete || o.successCriteriaMet != n.successCriteriaMet || n.Spec.SuccessPolicy != nil
		return when(changed && n.complete && !n.successCriteriaMet, "Complete without SuccessCriteriaMet")
	}},
	{"STV-08", "conditions", func(o, n *jobView) string {
		late := o.complete && !o.successCriteriaMet && n.successCriteriaMet
		return when(late || o.successCriteriaMet && !n.successCriteriaMet, "SuccessCriteriaMet removed, or added too late")
	}},
	{"STV-09", "conditions", func(o, n *jobView) string {
		return when(o.failed && !n.failed || o.complete && !n.complete || o.failureTarget && !n.failureTarget, "a final condition is gone")
	}},
	{"STV-10", "completionTime", completionTimeProblem},
	{"STV-11", "active", func(o, n *jobView) string {
		changed := o.finished() != n.finished() || o.Status.Active != n.Status.Active
		return when(changed && n.finished() && n.Status.Active > 0, "finished with active pods")
	}},
	{"STV-12", "terminating", func(o, n *jobView) string {
		changed := o.finished() != n.finished() || !ptr.Equal(o.Status.Terminating, n.Status.Terminating)
		return when(changed && n.finished() && ptr.Deref(n.Status.Terminating, 0) > 0, "finished with terminating pods")
	}},
	{"STV-13", "uncountedTerminatedPods", func(_, n *jobView) string {
		u := n.Status.UncountedTerminatedPods
		return when(n.finished() && u != nil && len(u.Succeeded)+len(u.Failed) > 0, "finished with uncounted pods")
	}},
	{"STV-14", "startTime", func(o, n *jobView) string {
		changed := o.finished() != n.finished() || !ptr.Equal(o.Status.StartTime, n.Status.StartTime)
		exempt := ptr.Deref(n.Spec.Suspend, false) && n.Spec.Completions != nil && *n.Spec.Completions == 0
		return when(changed && !exempt && n.finished() && n.Status.StartTime == nil, "finished without a start time")
	}},
	{"STV-15", "startTime", func(o, n *jobView) string {
		changed := o.Status.StartTime != nil && !o.Status.StartTime.Equal(n.Status.StartTime)
		resuming := o.suspended && !n.suspended
		return when(changed && !resuming && !ptr.Deref(n.Spec.Suspend, false), "changed in a Job that is not suspended")
	}},
	{"STV-16", "ready", func(_, n *jobView) string {
		return when(ptr.Deref(n.Status.Ready, 0) > n.Status.Active, "more ready than active")
	}},
	{"STV-17", "failed", func(o, n *jobView) string { return when(n.Status.Failed < o.Status.Failed, "decreased") }},
	{"STV-18", "succeeded", func(o, n *jobView) string {
		elastic := n.indexed() && ptr.Equal(n.Spec.Completions, n.Spec.Parallelism)
		return when(!elastic && n.Status.Succeeded < o.Status.Succeeded, "decreased")
	}},
	{"STV-19", "completedIndexes", func(o, n *jobView) string {
		if o.Status.CompletedIndexes == n.Status.CompletedIndexes {
			return ""
		}
		if !n.indexed() {
			return when(n.Status.CompletedIndexes != "", "set in a NonIndexed Job")
		}
		return indexesProblem(n.Status.CompletedIndexes, n)
	}},
	{"STV-20", "failedIndexes", func(o, n *jobView) string {
		if ptr.Equal(o.Status.FailedIndexes, n.Status.FailedIndexes) || n.Status.FailedIndexes == nil {
			return ""
		}
		if n.Spec.BackoffLimitPerIndex == nil {
			return "set without backoffLimitPerIndex"
		}
		return indexesProblem(*n.Status.FailedIndexes, n)
	}},
	{"STV-21", "failedIndexes", func(o, n *jobView) string {
		changed := o.Status.CompletedIndexes != n.Status.CompletedIndexes || !ptr.Equal(o.Status.FailedIndexes, n.Status.FailedIndexes)
		completed, _ := indexset.Parse(n.Status.CompletedIndexes)
		failed, _ := indexset.Parse(ptr.Deref(n.Status.FailedIndexes, ""))
		return when(changed && !completed.Intersection(failed).IsEmpty(), "overlaps completedIndexes")
	}},
}

func uncountedProblem(u *batchv1.UncountedTerminatedPods) string {
	if u == nil {
		return ""
	}
	seen := map[types.UID]bool{"": true}
	for _, uid := range slices.Concat(u.Succeeded, u.Failed) {
		if seen[uid] {
			return "an empty or repeated UID"
		}
		seen[uid] = true
	}
	return ""
}

func completionTimeProblem(o, n *jobView) string {
	before, after := o.Status.CompletionTime, n.Status.CompletionTime
	switch {
	case n.complete != (after != nil):
		return "there is one exactly in a Complete Job"
	case before != nil && !before.Equal(after):
		return "changed"
	case after != nil && n.Status.StartTime != nil && after.Before(n.Status.StartTime):
		return "before the start time"
	}
	return ""
}

func indexesProblem(text string, n *jobView) string {
	set, err := indexset.Parse(text)
	if err != nil {
		return err.Error()
	}
	outside := set.Difference(indexset.Below(ptr.Deref(n.Spec.Completions, 0)))
	return when(!outside.IsEmpty(), "not below completions: "+outside.String())
}
