// Package family shows a Job and its retries as one: what each of them ran, what is missing, and what happened to the
// indexes that failed.
package family

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

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

// Member is a Job of a family, and how its pods failed, as far as that is known.
type Member struct {
	Job *batchv1.Job
	// Status, Fate and Reason are as in explain.Verdict.
	Status string
	Fate   explain.Fate
	Reason string
	// Failures are the last ones of indexes, Most is the most frequent one of the Job; nil if none is known.
	Failures map[int32]*cause.Failure
	Most     *cause.Failure
}

// Of returns the family of the Job. members are those of family, in order.
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
	noteMissing(out, job, family)
	out.Histories = histories(relatives)
	out.Text = words.FamilyText(out)
	return out
}

// noteMissing notes whether the family is complete, or what is missing.
func noteMissing(out *explain.Family, job *batchv1.Job, family retry.Family) {
	first, indexed := family.Complete(), jobspec.IsIndexed(&job.Spec)
	missing := family.Missing(job)
	switch {
	case first != nil:
		out.Complete, out.CompletedBy = true, first.Name
	case indexed && missing.IsEmpty():
		out.Complete = true
	case indexed:
		out.Missing, out.MissingCount = missing.String(), ptr.To(int32(missing.Len()))
	case job.Spec.Completions != nil:
		out.MissingCount = ptr.To(family.MissingCompletions(family[0]))
	}
}

// relative is a Member, and what happened to the indexes that it runs.
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

// view is what the Report on a Job of the family has about the relative.
func (r *relative) view(of *batchv1.Job) explain.FamilyMember {
	m := explain.FamilyMember{
		Name: r.Job.Name, UID: string(r.Job.UID), Attempt: retry.AttemptOf(r.Job), Explained: r.Job.UID == of.UID,
		Status: r.Status, Fate: r.Fate, Reason: r.Reason, Pending: retry.IsPending(r.Job),
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

// run is how the index ended in the Job.
func (r *relative) run(index int32) explain.IndexRun {
	run := explain.IndexRun{Job: r.Job.Name, Outcome: explain.RunStopped}
	switch {
	case r.completed.Contains(index):
		run.Outcome = explain.RunCompleted
	case r.failed.Contains(index):
		run.Outcome = explain.RunFailed
		run.Failure = r.Failures[index]
	case !r.finished():
		run.Outcome = explain.RunOpen
	}
	return run
}

// historyKeys are equal for indexes with the same history.
type historyKeys struct {
	relatives []*relative
	failures  map[cause.Failure]int64
	runs      []explain.IndexRun // of the latest index
	key       []byte
}

func (k *historyKeys) of(index int32) string {
	k.runs, k.key = k.runs[:0], k.key[:0]
	for at, r := range k.relatives {
		if !r.runs.Contains(index) {
			continue
		}
		run := r.run(index)
		k.runs = append(k.runs, run)
		k.key = strconv.AppendInt(append(k.key, run.Outcome...), int64(at), 10)
		if f := run.Failure; f != nil {
			if k.failures[*f] == 0 {
				k.failures[*f] = int64(len(k.failures)) + 1
			}
			k.key = strconv.AppendInt(append(k.key, '/'), k.failures[*f], 10)
		}
	}
	return string(k.key)
}

// withCauses are the runs of the latest index with their causes in words.
func (k *historyKeys) withCauses() []explain.IndexRun {
	runs := slices.Clone(k.runs)
	for i := range runs {
		if f := runs[i].Failure; f != nil {
			runs[i].Cause = f.Text()
		}
	}
	return runs
}

// histories are those of the indexes that failed in one of the Jobs; indexes with the same history are together.
func histories(relatives []*relative) []explain.IndexHistory {
	var failed indexset.Set
	for _, r := range relatives {
		failed = failed.Union(r.failed)
	}
	keys := historyKeys{relatives: relatives, failures: map[cause.Failure]int64{}}
	indexes, runs := map[string][]int32{}, map[string][]explain.IndexRun{}
	for index := range failed.All() {
		key := keys.of(index)
		if indexes[key] == nil {
			runs[key] = keys.withCauses()
		}
		indexes[key] = append(indexes[key], index)
	}
	var out []explain.IndexHistory
	for key, of := range indexes {
		out = append(out, explain.IndexHistory{
			Indexes: indexset.Of(of...).String(), Count: int32(len(of)), Runs: runs[key], Text: words.HistoryText(runs[key]),
		})
	}
	slices.SortFunc(out, func(x, y explain.IndexHistory) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Indexes, y.Indexes))
	})
	return out
}
