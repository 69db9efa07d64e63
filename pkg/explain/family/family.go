// Package family summarizes a Job and its retries: the indexes that each of them ran, the missing indexes, and the histories
// of failed indexes.
package family

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Member is a Job of a family with the failures of its pods, as far as they are known.
type Member struct {
	Job *batchv1.Job
	// Status, Outcome and Reason are as in explain.Verdict.
	Status  string
	Outcome reconcile.Outcome
	Reason  string
	// Failures are the last failures of indexes, and Most the most frequent failure of the Job; nil if none is known.
	Failures map[int32]*cause.Failure
	Most     *cause.Failure
}

// Of returns the family of the Job. members describe the Jobs of family, in the same order.
func Of(job *batchv1.Job, family retry.Family, members []Member) *explain.Family {
	out := &explain.Family{Root: retry.RootOf(job), RootGone: retry.AttemptOf(family[0]) > 0}
	relatives := make([]*relative, 0, len(family))
	for i := range members {
		r := relativeOf(&members[i])
		relatives = append(relatives, r)
		out.Members = append(out.Members, r.view(job))
		if !r.finished() && !retry.IsPending(r.Job) {
			out.RunningIn = r.Job.Name
		}
	}
	missing, indexed := family.Missing(job), jobspec.IsIndexed(&job.Spec)
	switch first := family.Complete(job); {
	case first != nil:
		out.Complete, out.CompletedBy = true, first.Name
	case indexed && missing.IsEmpty():
		out.Complete = true
	case indexed:
		out.Missing, out.MissingCount = missing.String(), ptr.To(int32(missing.Len()))
	case job.Spec.Completions != nil:
		out.MissingCount = ptr.To(family.MissingCompletions(family[0]))
	}
	out.Histories = histories(relatives)
	out.Text = words.FamilyText(out)
	return out
}

// relative is a Member with the sets of its indexes by outcome.
type relative struct {
	*Member
	runs, completed, failed indexset.Set
}

func relativeOf(m *Member) *relative {
	r := &relative{Member: m}
	if !r.indexed() || retry.IsPending(m.Job) {
		return r
	}
	r.runs = retry.Runs(m.Job)
	r.completed, r.failed = retry.Completed(m.Job).Intersection(r.runs), retry.Failed(m.Job)
	if r.finished() {
		failed := indexset.Of(slices.Collect(maps.Keys(m.Failures))...)
		r.failed = r.failed.Union(failed).Intersection(r.runs).Difference(r.completed)
	}
	return r
}

func (r *relative) indexed() bool { return jobspec.IsIndexed(&r.Job.Spec) }

func (r *relative) finished() bool { return reconcile.IsFinished(r.Job) }

// view describes the relative for the Report on the Job of.
func (r *relative) view(of *batchv1.Job) explain.FamilyMember {
	m := explain.FamilyMember{
		Name: r.Job.Name, UID: string(r.Job.UID), Attempt: retry.AttemptOf(r.Job), Explained: r.Job.UID == of.UID,
		Status: r.Status, Outcome: r.Outcome, Reason: r.Reason, Pending: retry.IsPending(r.Job),
	}
	if r.indexed() {
		m.Indexes, m.Count = r.runs.String(), ptr.To(int32(r.runs.Len()))
		m.Completed, m.Failed = int32(r.completed.Len()), int32(r.failed.Len())
	} else {
		m.Count, m.Completed, m.Failed = r.Job.Spec.Completions, r.Job.Status.Succeeded, r.Job.Status.Failed
	}
	if r.Most != nil {
		m.Cause, m.Failure = r.Most.Text(), r.Most
	}
	return m
}

// run returns the outcome of the index in the Job.
func (r *relative) run(index int32) (explain.RunOutcome, *cause.Failure) {
	switch {
	case r.completed.Contains(index):
		return explain.RunCompleted, nil
	case r.failed.Contains(index):
		return explain.RunFailed, r.Failures[index]
	case !r.finished():
		return explain.RunOpen, nil
	}
	return explain.RunStopped, nil
}

// step is one run of an index. before identifies the preceding runs.
type step struct {
	before, relative int
	outcome          explain.RunOutcome
	failure          cause.Failure
}

// histories returns the histories of the indexes that failed in any of the Jobs; indexes with the same history are grouped.
func histories(relatives []*relative) (out []explain.IndexHistory) {
	var failed indexset.Set
	for _, r := range relatives {
		failed = failed.Union(r.failed)
	}
	steps, indexes := map[step]int{}, map[int][]indexset.Interval{}
	for same := range alike(relatives) {
		if !failed.Contains(same.First) {
			continue
		}
		last := 0
		for i, r := range relatives {
			if !r.runs.Contains(same.First) {
				continue
			}
			outcome, failure := r.run(same.First)
			s := step{last, i, outcome, ptr.Deref(failure, cause.Failure{})}
			if steps[s] == 0 {
				steps[s] = len(steps) + 1
			}
			last = steps[s]
		}
		indexes[last] = append(indexes[last], same)
	}
	for _, same := range indexes {
		set := indexset.OfIntervals(same...)
		h := explain.IndexHistory{Indexes: set.String(), Count: int32(set.Len()), Runs: runsOf(relatives, same[0].First)}
		h.Text = words.HistoryText(h.Runs)
		out = append(out, h)
	}
	slices.SortFunc(out, func(x, y explain.IndexHistory) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Indexes, y.Indexes))
	})
	return out
}

// alike yields intervals of indexes with the same history: there may be 2^31 indexes, but far fewer pods.
func alike(relatives []*relative) iter.Seq[indexset.Interval] {
	var known []int32
	var sets []indexset.Set
	for _, r := range relatives {
		known = slices.AppendSeq(known, maps.Keys(r.Failures))
		sets = append(sets, r.runs, r.completed, r.failed)
	}
	return indexset.Pieces(math.MaxInt32, indexset.Of(known...), sets...)
}

// runsOf returns the runs of an index, sorted by attempt.
func runsOf(relatives []*relative, index int32) (runs []explain.IndexRun) {
	for _, r := range relatives {
		if !r.runs.Contains(index) {
			continue
		}
		run := explain.IndexRun{Job: r.Job.Name}
		if run.Outcome, run.Failure = r.run(index); run.Failure != nil {
			run.Cause = run.Failure.Text()
		}
		runs = append(runs, run)
	}
	return runs
}
