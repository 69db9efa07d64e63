package analysis

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// relative is a Job of the family, and what happened to the indexes that it runs.
type relative struct {
	*analysis
	runs, completed, failed indexset.Set
	// kinds are how indexes failed last.
	kinds map[int32]*causeKind
}

// familyOf is the family of the Job, nil if it has no retries and is none, or if that is not known.
func (a *analysis) familyOf() *explain.Family {
	var jobs []*batchv1.Job
	inputs := map[*batchv1.Job]*explain.Input{a.job: a.Input}
	for i := range a.Relatives {
		jobs = append(jobs, a.Relatives[i].Job)
		inputs[a.Relatives[i].Job] = &a.Relatives[i]
	}
	family := retry.FamilyOf(a.job, jobs)
	if !a.RelativesRead || len(family) == 1 && retry.AttemptOf(a.job) == 0 {
		return nil
	}
	out := &explain.Family{Root: retry.RootOf(a.job), RootGone: retry.AttemptOf(family[0]) > 0}
	relatives := make([]*relative, 0, len(family))
	for _, job := range family {
		of := a
		if job != a.job {
			in := *inputs[job]
			in.Now = a.Now
			of = analyse(&in, explain.Options{})
		}
		r := relativeOf(of)
		relatives = append(relatives, r)
		out.Members = append(out.Members, r.member(job == a.job))
		if !r.finished() && !retry.IsPending(job) {
			out.RunningIn = job.Name
		}
	}
	a.noteMissing(out, family)
	out.Histories = histories(relatives)
	out.Text = words.FamilyText(out)
	return out
}

// noteMissing notes whether the family is complete, or what is missing.
func (a *analysis) noteMissing(out *explain.Family, family retry.Family) {
	last := family.Complete()
	missing := family.Missing(a.job)
	switch {
	case last != nil:
		out.Complete, out.CompletedBy = true, last.Name
	case a.indexed() && missing.IsEmpty():
		out.Complete = true
	case a.indexed():
		out.Missing, out.MissingCount = missing.String(), ptr.To(int32(missing.Len()))
	case a.spec.Completions != nil:
		out.MissingCount = ptr.To(family.MissingCompletions(family[0]))
	}
}

// lineage is which retry the Job is, and of what; "" for a first Job.
func (a *numbers) lineage() string {
	attempt, runs := retry.AttemptOf(a.job), retry.Runs(a.job)
	if attempt == 0 || retry.IsPending(a.job) {
		return ""
	}
	if !a.indexed() || runs.Len() == int(ptr.Deref(a.spec.Completions, 0)) {
		return words.RetryText(attempt, retry.RootOf(a.job), 0, "")
	}
	return words.RetryText(attempt, retry.RootOf(a.job), runs.Len(), crop(runs.String()))
}

// rest is what happens in retries to what the Job that failed did not complete.
func (a *numbers) rest() string {
	f := a.family
	if f == nil || !a.finished() {
		return ""
	}
	before := func(m explain.FamilyMember) bool {
		return m.Name == f.CompletedBy && m.Attempt < retry.AttemptOf(a.job)
	}
	if slices.ContainsFunc(f.Members, before) {
		return "" // It ran chosen indexes once more.
	}
	return words.RestText(f)
}

func relativeOf(a *analysis) *relative {
	r := &relative{analysis: a, kinds: map[int32]*causeKind{}}
	if !a.indexed() || retry.IsPending(a.job) {
		return r
	}
	r.runs = retry.Runs(a.job)
	r.completed = retry.Completed(a.job).Intersection(r.runs)
	var failed []int32
	for i := range a.failures { // The latest first.
		f := &a.failures[i]
		if f.consequence || f.cause.Action == batchv1.PodFailurePolicyActionIgnore || r.kinds[f.pod.Index] != nil {
			continue
		}
		r.kinds[f.pod.Index] = f.kind
		failed = append(failed, f.pod.Index)
	}
	r.failed = retry.Failed(a.job)
	if a.finished() {
		r.failed = r.failed.Union(indexset.Of(failed...)).Intersection(r.runs).Difference(r.completed)
	}
	return r
}

func (r *relative) member(explained bool) explain.FamilyMember {
	m := explain.FamilyMember{
		Name: r.job.Name, UID: string(r.job.UID), Attempt: retry.AttemptOf(r.job), Explained: explained,
		Status: Status(r.job), Fate: r.outcome.Fate, Reason: r.outcome.reason, Pending: retry.IsPending(r.job),
	}
	switch {
	case r.indexed():
		m.Indexes, m.Count = r.runs.String(), ptr.To(int32(r.runs.Len()))
		m.Completed, m.Failed = int32(r.completed.Len()), int32(r.failed.Len())
	default:
		m.Count, m.Completed, m.Failed = r.spec.Completions, r.job.Status.Succeeded, r.job.Status.Failed
	}
	if groups := r.groups(); len(groups) > 0 && !groups[0].consequence {
		m.Cause, m.Failure = groups[0].kind.text, &groups[0].kind.failure
	}
	return m
}

// run is how the index ended in the Job.
func (r *relative) run(index int32) explain.IndexRun {
	run := explain.IndexRun{Job: r.job.Name, Outcome: explain.RunStopped}
	switch {
	case r.completed.Contains(index):
		run.Outcome = explain.RunCompleted
	case r.failed.Contains(index):
		run.Outcome = explain.RunFailed
		if kind := r.kinds[index]; kind != nil {
			run.Cause, run.Failure = kind.text, &kind.failure
		}
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
			runs[key] = slices.Clone(keys.runs)
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
