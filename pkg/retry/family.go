package retry

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Family is a Job and its retries, by attempt. The first Job may be gone.
type Family []*batchv1.Job

// FamilyOf returns the family of the Job among jobs, which may contain others. It includes the Job itself.
func FamilyOf(job *batchv1.Job, jobs []*batchv1.Job) Family {
	family := Family{job}
	for _, other := range jobs {
		if other.UID != job.UID && RootOf(other) == RootOf(job) && rootUID(other) == rootUID(job) {
			family = append(family, other)
		}
	}
	slices.SortStableFunc(family, func(a, b *batchv1.Job) int { return cmp.Compare(AttemptOf(a), AttemptOf(b)) })
	return family
}

// Done returns the indexes that completed in any Job of the family.
func (f Family) Done() (done indexset.Set) {
	for _, job := range f {
		done = done.Union(Completed(job))
	}
	return done
}

// Completed returns the indexes that completed in the Job or before it, without the indexes that only count as
// completed.
func Completed(job *batchv1.Job) indexset.Set {
	if IsPending(job) {
		return indexset.Set{}
	}
	completed := parseIndexes(job, job.Status.CompletedIndexes)
	return completed.Difference(parseIndexes(job, job.Annotations[LeftOutAnnotation]))
}

// Failed returns the indexes that the Job has stored as failed (KEP-3850).
func Failed(job *batchv1.Job) indexset.Set {
	return parseIndexes(job, ptr.Deref(job.Status.FailedIndexes, ""))
}

// Progress returns the number of indexes that a retry runs, and how many of them have completed; 0 for a Job that runs
// all of its indexes.
func Progress(job *batchv1.Job) (runs, done int32) {
	if _, limited := job.Annotations[IndexesAnnotation]; !limited || !jobspec.IsIndexed(&job.Spec) {
		return 0, 0
	}
	all := Runs(job)
	if all.Len() == int(completions(job)) {
		return 0, 0
	}
	return int32(all.Len()), int32(all.Intersection(parseIndexes(job, job.Status.CompletedIndexes)).Len())
}

// Runs returns the indexes that the Job runs: all of them, unless it is a retry of some. Indexes that it has gained
// since its creation run as well.
func Runs(job *batchv1.Job) indexset.Set {
	all := indexset.Below(completions(job))
	text, limited := job.Annotations[IndexesAnnotation]
	if !limited {
		return all
	}
	retried := parseIndexes(job, text)
	made, known, err := reconcile.RetryCompletions(job.Annotations)
	if !known || err != nil {
		return retried
	}
	return retried.Union(all.Difference(indexset.Below(made)))
}

// Missing returns the indexes of the Indexed Job that no Job of the family has completed.
func (f Family) Missing(job *batchv1.Job) indexset.Set {
	return indexset.Below(completions(job)).Difference(f.Done())
}

// MissingCompletions returns the number of completions of the NonIndexed Job that neither it nor a later retry has
// reached.
func (f Family) MissingCompletions(job *batchv1.Job) int32 {
	missing := completions(job)
	for _, other := range f {
		if AttemptOf(other) >= AttemptOf(job) {
			missing -= other.Status.Succeeded
		}
	}
	return max(missing, 0)
}

// Complete returns the first Job of the family whose completion leaves no index of the Job to run, nil if there is
// none.
func (f Family) Complete(job *batchv1.Job) *batchv1.Job {
	if i := slices.IndexFunc(f, func(member *batchv1.Job) bool { return completes(member, job) }); i >= 0 {
		return f[i]
	}
	return nil
}

// completes reports whether the member is complete, left no index out, and has at least as many completions as the Job;
// a member may have been scaled down. A retry without indexes has fewer completions: only the missing ones.
func completes(member, job *batchv1.Job) bool {
	covers := !jobspec.IsIndexed(&job.Spec) || completions(member) >= completions(job)
	return covers && reconcile.FinishedCondition(member) == batchv1.JobComplete && member.Annotations[LeftOutAnnotation] == ""
}

// MaxTaken is the number of names that Family.Next skips if Jobs outside the family have them.
const MaxTaken = 5

// Next returns the number of the Job's next retry, and its name. taken are the names of Jobs outside the family, such
// as a retry of an earlier Job of the same name; their numbers are skipped. After MaxTaken of them, the name contains a
// hash of the family's UID, so that no other family uses it.
func (f Family) Next(job *batchv1.Job, taken []string) (attempt int32, name string) {
	first := AttemptOf(f[len(f)-1]) + 1
	for attempt = first; attempt < first+MaxTaken; attempt++ {
		name = nameOf(RootOf(job), rootUID(job), attempt, completions(job), false)
		if !slices.Contains(taken, name) {
			return attempt, name
		}
	}
	return first, nameOf(RootOf(job), rootUID(job), first, completions(job), true)
}

func completions(job *batchv1.Job) int32 { return ptr.Deref(job.Spec.Completions, 0) }

// parseIndexes parses indexes, ignoring entries that the API server would reject.
func parseIndexes(job *batchv1.Job, text string) indexset.Set {
	if !jobspec.IsIndexed(&job.Spec) {
		return indexset.Set{}
	}
	set, _ := indexset.ParseTolerant(text, completions(job))
	return set
}
