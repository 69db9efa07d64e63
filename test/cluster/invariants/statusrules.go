package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// StatusRule is a rule that the API server enforces for the status of a Job (STV-01..21), as a predicate of two versions of the
// Job.
//
// Some rules apply in the API server only if a field has changed; here they always apply, as only a controller writes a status
// where they are used. TestStatusRulesAreThoseOfTheAPIServer in test/cluster/integration compares the rest with a real API server.
// Older API servers enforce none of them, unless a Job has managedBy. The virtual API server has its own copy, written
// independently: the conformance suite uses this one, and imports nothing of our controller.
type StatusRule struct {
	// ID is the requirement's id, Text describes the violation.
	ID, Text string
	broken   func(before, after *batchv1.Job) bool
}

// BrokenStatusRules returns the rules that are violated by the step between two versions of a Job.
func BrokenStatusRules(before, after *batchv1.Job) []StatusRule {
	return slices.DeleteFunc(slices.Clone(statusRules), func(r StatusRule) bool { return !r.broken(before, after) })
}

// after makes a predicate of one about the new version only.
func after(broken func(*batchv1.Job) bool) func(_, _ *batchv1.Job) bool {
	return func(_, job *batchv1.Job) bool { return broken(job) }
}

// never makes a predicate for two conditions that exclude each other.
func never(a, b batchv1.JobConditionType) func(_, _ *batchv1.Job) bool {
	return after(func(job *batchv1.Job) bool { return history.Is(job, a) && history.Is(job, b) })
}

// statusRules are the rules of the API server, in the order of the requirements.
var statusRules = []StatusRule{
	{"STV-01", "a count is negative", after(func(job *batchv1.Job) bool {
		s := job.Status
		return min(s.Active, s.Succeeded, s.Failed, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0)) < 0
	})},
	{"STV-02", "an uncounted UID is empty or there twice", after(func(job *batchv1.Job) bool {
		uids := uncounted(job)
		slices.Sort(uids)
		return slices.Contains(uids, "") || len(slices.Compact(slices.Clone(uids))) != len(uids)
	})},
	{"STV-03", "Complete and Failed", never(batchv1.JobComplete, batchv1.JobFailed)},
	{"STV-04", "Complete and FailureTarget", never(batchv1.JobComplete, batchv1.JobFailureTarget)},
	{"STV-05", "SuccessCriteriaMet and a failure", after(func(job *batchv1.Job) bool {
		return history.Is(job, batchv1.JobSuccessCriteriaMet) && (history.Is(job, batchv1.JobFailed) || history.Is(job, batchv1.JobFailureTarget))
	})},
	{"STV-06", "Failed without FailureTarget", after(func(job *batchv1.Job) bool {
		return history.Is(job, batchv1.JobFailed) && !history.Is(job, batchv1.JobFailureTarget)
	})},
	{"STV-07", "Complete without SuccessCriteriaMet", after(func(job *batchv1.Job) bool {
		return history.Is(job, batchv1.JobComplete) && !history.Is(job, batchv1.JobSuccessCriteriaMet)
	})},
	{"STV-08", "SuccessCriteriaMet is gone, or comes after Complete", func(old, job *batchv1.Job) bool {
		before, now := history.Is(old, batchv1.JobSuccessCriteriaMet), history.Is(job, batchv1.JobSuccessCriteriaMet)
		return before && !now || !before && now && history.Is(old, batchv1.JobComplete)
	}},
	{"STV-09", "a condition is gone, or a final one is no longer True", func(old, job *batchv1.Job) bool {
		return slices.ContainsFunc(old.Status.Conditions, func(c batchv1.JobCondition) bool {
			exists := slices.ContainsFunc(job.Status.Conditions, func(d batchv1.JobCondition) bool { return d.Type == c.Type })
			final := c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailureTarget
			return !exists || final && history.Is(old, c.Type) && !history.Is(job, c.Type)
		})
	}},
	{"STV-10", "completionTime is not that of the Complete condition", completionTimeIsWrong},
	{"STV-11", "finished with active pods", after(func(job *batchv1.Job) bool { return history.IsFinished(job) && job.Status.Active != 0 })},
	{"STV-12", "finished with terminating pods", after(func(job *batchv1.Job) bool {
		return history.IsFinished(job) && ptr.Deref(job.Status.Terminating, 0) != 0
	})},
	{"STV-13", "finished with uncounted pods", after(func(job *batchv1.Job) bool {
		return history.IsFinished(job) && len(uncounted(job)) != 0
	})},
	{"STV-14", "finished without a startTime", after(func(job *batchv1.Job) bool {
		neverRan := ptr.Deref(job.Spec.Suspend, false) && ptr.Deref(job.Spec.Completions, 1) == 0
		return history.IsFinished(job) && job.Status.StartTime == nil && !neverRan
	})},
	{"STV-15", "startTime changed in a Job that is not suspended", func(old, job *batchv1.Job) bool {
		resumes := history.Is(old, batchv1.JobSuspended) && !history.Is(job, batchv1.JobSuspended)
		changed := old.Status.StartTime != nil && !old.Status.StartTime.Equal(job.Status.StartTime)
		return changed && !resumes && !ptr.Deref(job.Spec.Suspend, false)
	}},
	{"STV-16", "more pods are ready than active", after(func(job *batchv1.Job) bool {
		return ptr.Deref(job.Status.Ready, 0) > job.Status.Active
	})},
	{"STV-17", "failed decreased", func(old, job *batchv1.Job) bool { return job.Status.Failed < old.Status.Failed }},
	{"STV-18", "succeeded decreased", func(old, job *batchv1.Job) bool {
		elastic := history.IsIndexed(&job.Spec) && ptr.Equal(job.Spec.Completions, job.Spec.Parallelism)
		return job.Status.Succeeded < old.Status.Succeeded && !elastic
	}},
	{"STV-19", "completedIndexes is not a list of indexes of the Job", func(old, job *batchv1.Job) bool {
		return job.Status.CompletedIndexes != old.Status.CompletedIndexes && !areIndexesOf(job, job.Status.CompletedIndexes)
	}},
	{"STV-20", "failedIndexes is not a list of indexes of the Job", func(old, job *batchv1.Job) bool {
		failed := job.Status.FailedIndexes
		if failed == nil || ptr.Equal(failed, old.Status.FailedIndexes) {
			return false
		}
		return job.Spec.BackoffLimitPerIndex == nil || !areIndexesOf(job, *failed)
	}},
	{"STV-21", "an index is completed and failed", after(func(job *batchv1.Job) bool {
		completed, _ := indexset.Parse(job.Status.CompletedIndexes)
		failed, _ := indexset.Parse(ptr.Deref(job.Status.FailedIndexes, ""))
		return !completed.Intersection(failed).IsEmpty()
	})},
}

func completionTimeIsWrong(old, job *batchv1.Job) bool {
	before, now, complete := old.Status.CompletionTime, job.Status.CompletionTime, history.Condition(job, batchv1.JobComplete)
	switch {
	case now == nil || complete == nil:
		return now != nil || complete != nil
	case before != nil && !before.Equal(now):
		return true
	}
	start := job.Status.StartTime
	// The built-in controller reads the clock twice.
	other := !history.IsBuiltIn(job) && !now.Equal(&complete.LastTransitionTime)
	return other || start != nil && now.Before(start)
}

// areIndexesOf reports whether the text is a list of completion indexes of the Job.
func areIndexesOf(job *batchv1.Job, text string) bool {
	if !history.IsIndexed(&job.Spec) {
		return text == ""
	}
	set, err := indexset.Parse(text)
	return err == nil && set.Difference(indexset.Below(ptr.Deref(job.Spec.Completions, 0))).IsEmpty()
}

func uncounted(job *batchv1.Job) []types.UID {
	u := job.Status.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	return slices.Concat(u.Succeeded, u.Failed)
}
