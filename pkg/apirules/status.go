package apirules

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// statusRule is a rule for writes to /status (requirements STV-01..21).
type statusRule struct {
	id      string
	path    string
	kind    field.ErrorType
	message string
	broken  func(old, next *jobView) bool
}

// jobView is a Job with the methods that the rules need.
type jobView struct {
	*batchv1.Job
	complete, failed, failureTarget, successCriteriaMet, suspended bool
}

func view(job *batchv1.Job) *jobView {
	is := func(t batchv1.JobConditionType) bool { return hasCondition(job, t, corev1.ConditionTrue) }
	return &jobView{job, is(batchv1.JobComplete), is(batchv1.JobFailed), is(batchv1.JobFailureTarget),
		is(batchv1.JobSuccessCriteriaMet), is(batchv1.JobSuspended)}
}

func hasCondition(job *batchv1.Job, t batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t && c.Status == status })
}

func (v *jobView) finished() bool { return v.complete || v.failed }

func (v *jobView) indexed() bool { return jobspec.IsIndexed(&v.Spec) }

// Status returns the problems of a write to /status. The IDs are the IDs of requirements.
func Status(old, next *batchv1.Job) Problems {
	found := uncountedProblems(next.Status.UncountedTerminatedPods)
	before, after := view(old), view(next)
	for _, rule := range statusRules {
		if rule.broken(before, after) {
			found = append(found, Problem{ID: rule.id, Type: rule.kind, Path: statusPath.Child(rule.path), Message: rule.message})
		}
	}
	return found
}

var statusPath = field.NewPath("status")

const negative = "a count is negative"

var statusRules = []statusRule{
	{"STV-01", "active", invalid, negative, func(_, n *jobView) bool { return n.Status.Active < 0 }},
	{"STV-01", "succeeded", invalid, negative, func(_, n *jobView) bool { return n.Status.Succeeded < 0 }},
	{"STV-01", "failed", invalid, negative, func(_, n *jobView) bool { return n.Status.Failed < 0 }},
	{"STV-01", "ready", invalid, negative, func(_, n *jobView) bool { return ptr.Deref(n.Status.Ready, 0) < 0 }},
	{"STV-01", "terminating", invalid, negative, func(_, n *jobView) bool { return ptr.Deref(n.Status.Terminating, 0) < 0 }},
	{"STV-03", "conditions", invalid, "Complete and Failed at once", func(o, n *jobView) bool {
		return n.complete && n.failed && (o.complete != n.complete || o.failed != n.failed)
	}},
	{"STV-04", "conditions", invalid, "Complete and FailureTarget at once", func(o, n *jobView) bool {
		changed := o.complete != n.complete || o.failureTarget != n.failureTarget
		return changed && n.complete && n.failureTarget
	}},
	{"STV-05", "conditions", invalid, "SuccessCriteriaMet with Failed or FailureTarget", func(_, n *jobView) bool {
		return n.successCriteriaMet && (n.failed || n.failureTarget)
	}},
	{"STV-06", "conditions", invalid, "Failed without FailureTarget", func(o, n *jobView) bool {
		changed := o.failed != n.failed || !ptr.Equal(o.Status.FailedIndexes, n.Status.FailedIndexes)
		return changed && n.failed && !n.failureTarget
	}},
	{"STV-07", "conditions", invalid, "Complete without SuccessCriteriaMet", func(o, n *jobView) bool {
		changed := o.complete != n.complete || o.successCriteriaMet != n.successCriteriaMet || n.Spec.SuccessPolicy != nil
		return changed && n.complete && !n.successCriteriaMet
	}},
	{"STV-08", "conditions", invalid, "SuccessCriteriaMet removed, or added too late", func(o, n *jobView) bool {
		late := o.complete && !o.successCriteriaMet && n.successCriteriaMet
		return late || o.successCriteriaMet && !n.successCriteriaMet
	}},
	{"STV-09", "conditions", invalid, "a final condition is gone", func(o, n *jobView) bool {
		return o.failed && !n.failed || o.complete && !n.complete || o.failureTarget && !n.failureTarget
	}},
	{"STV-10", "completionTime", invalid, "set in a Job that is not Complete", func(o, n *jobView) bool {
		return completionChanged(o, n) && !n.complete && n.Status.CompletionTime != nil
	}},
	{"STV-10", "completionTime", missing, "missing in a Complete Job", func(o, n *jobView) bool {
		return completionChanged(o, n) && n.complete && n.Status.CompletionTime == nil
	}},
	{"STV-10", "completionTime", invalid, "before the start time", func(o, n *jobView) bool {
		changed := startChanged(o, n) || !o.Status.CompletionTime.Equal(n.Status.CompletionTime)
		set := n.Status.StartTime != nil && n.Status.CompletionTime != nil
		return changed && set && n.Status.CompletionTime.Before(n.Status.StartTime)
	}},
	{"STV-10", "completionTime", invalid, "changed", func(o, n *jobView) bool {
		was, is := o.Status.CompletionTime, n.Status.CompletionTime
		return was != nil && is != nil && !was.Equal(is)
	}},
	{"STV-11", "active", invalid, "finished with active pods", func(o, n *jobView) bool {
		changed := o.finished() != n.finished() || o.Status.Active != n.Status.Active
		return changed && n.finished() && n.Status.Active > 0
	}},
	{"STV-12", "terminating", invalid, "finished with terminating pods", func(o, n *jobView) bool {
		changed := o.finished() != n.finished() || !ptr.Equal(o.Status.Terminating, n.Status.Terminating)
		return changed && n.finished() && ptr.Deref(n.Status.Terminating, 0) > 0
	}},
	{"STV-13", "uncountedTerminatedPods", invalid, "finished with uncounted pods", func(o, n *jobView) bool {
		was, is := o.Status.UncountedTerminatedPods, n.Status.UncountedTerminatedPods
		uncounted := n.finished() && is != nil && len(is.Succeeded)+len(is.Failed) > 0
		return uncounted && (o.finished() != n.finished() || differ(was, is))
	}},
	{"STV-14", "startTime", missing, "finished without a start time", func(o, n *jobView) bool {
		changed := o.finished() != n.finished() || startChanged(o, n)
		exempt := ptr.Deref(n.Spec.Suspend, false) && n.Spec.Completions != nil && *n.Spec.Completions == 0
		return changed && !exempt && n.finished() && n.Status.StartTime == nil
	}},
	{"STV-15", "startTime", invalid, "changed in a Job that is not suspended", func(o, n *jobView) bool {
		resuming := o.suspended && hasCondition(n.Job, batchv1.JobSuspended, corev1.ConditionFalse)
		return o.Status.StartTime != nil && startChanged(o, n) && !resuming && !ptr.Deref(n.Spec.Suspend, false)
	}},
	{"STV-16", "ready", invalid, "more ready than active", func(o, n *jobView) bool {
		changed := o.Status.Active != n.Status.Active || !ptr.Equal(o.Status.Ready, n.Status.Ready)
		return changed && ptr.Deref(n.Status.Ready, n.Status.Active) > n.Status.Active
	}},
	{"STV-17", "failed", invalid, "decreased", func(o, n *jobView) bool { return n.Status.Failed < o.Status.Failed }},
	{"STV-18", "succeeded", invalid, "decreased", func(o, n *jobView) bool {
		elastic := n.indexed() && ptr.Equal(n.Spec.Completions, n.Spec.Parallelism)
		return !elastic && n.Status.Succeeded < o.Status.Succeeded
	}},
	{"STV-19", "completedIndexes", invalid, "not a list of indexes of the Job", func(o, n *jobView) bool {
		text := n.Status.CompletedIndexes
		return o.Status.CompletedIndexes != text && (text != "" && !n.indexed() || !areIndexes(text, n.Spec.Completions))
	}},
	{"STV-20", "failedIndexes", invalid, "not a list of indexes of the Job", func(o, n *jobView) bool {
		text := n.Status.FailedIndexes
		if text == nil || ptr.Equal(o.Status.FailedIndexes, text) {
			return false
		}
		return n.Spec.BackoffLimitPerIndex == nil || !areIndexes(*text, n.Spec.Completions)
	}},
	{"STV-21", "failedIndexes", invalid, "overlaps completedIndexes", func(o, n *jobView) bool {
		changed := o.Status.CompletedIndexes != n.Status.CompletedIndexes || !ptr.Equal(o.Status.FailedIndexes, n.Status.FailedIndexes)
		return changed && n.Status.FailedIndexes != nil && n.Spec.Completions != nil && overlap(n)
	}},
}

func startChanged(o, n *jobView) bool { return !o.Status.StartTime.Equal(n.Status.StartTime) }

func completionChanged(o, n *jobView) bool {
	return o.complete != n.complete || !o.Status.CompletionTime.Equal(n.Status.CompletionTime)
}

// overlap reports whether an index is both completed and failed. Like the API server, it skips fragments that are not
// indexes of the Job, and goes through both lists in step: if they are not sorted, it misses some overlaps.
func overlap(n *jobView) bool {
	completed, failed := validIntervals(n.Status.CompletedIndexes, n), validIntervals(ptr.Deref(n.Status.FailedIndexes, ""), n)
	for len(completed) > 0 && len(failed) > 0 {
		c, f := completed[0], failed[0]
		switch {
		case c.First <= f.Last && f.First <= c.Last:
			return true
		case c.First <= f.First:
			completed = completed[1:]
		default:
			failed = failed[1:]
		}
	}
	return false
}

// validIntervals parses the fragments of a list of indexes that are valid by themselves.
func validIntervals(text string, n *jobView) (out []indexset.Interval) {
	for fragment := range strings.SplitSeq(text, ",") {
		if interval, problem := readInterval(fragment, *n.Spec.Completions); problem == "" {
			out = append(out, interval)
		}
	}
	return out
}

// uncountedProblems returns the violations of STV-02.
func uncountedProblems(u *batchv1.UncountedTerminatedPods) (found Problems) {
	if u == nil {
		return nil
	}
	seen := map[types.UID]bool{}
	for i, uid := range slices.Concat(u.Succeeded, u.Failed) {
		list, kind := "succeeded", repeated
		if i >= len(u.Succeeded) {
			list, i = "failed", i-len(u.Succeeded)
		}
		if uid == "" {
			kind = invalid
		}
		if uid == "" || seen[uid] {
			found = append(found, Problem{ID: "STV-02", Type: kind, Path: statusPath.Child("uncountedTerminatedPods", list).Index(i), Message: "an empty or repeated UID"})
		}
		seen[uid] = true
	}
	return found
}

// areIndexes reports whether the text is a list of indexes; below completions, if that is set.
func areIndexes(text string, completions *int32) bool {
	if completions == nil {
		return true
	}
	_, problem := ReadIndexes(text, *completions)
	return problem == ""
}
