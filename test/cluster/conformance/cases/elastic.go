package cases

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var elastic = []suite.Case{
	{Name: "elastic-grows", Title: "An Indexed Job can grow, if completions and parallelism stay equal",
		Source: "KEP-3715, Proposal", Requirements: []string{"JOB-10"}, Run: elasticGrows},
	{Name: "elastic-shrinks", Title: "It can shrink; the pods of the highest indexes are deleted, and do not count as failed",
		Source: "KEP-3715, Proposal", Requirements: []string{"JOB-10", "JOB-11"}, Run: elasticShrinks},
	{Name: "elastic-forgets-indexes", Title: "An index that is removed no longer counts, and runs again when it is added back",
		Source: "KEP-3715, Proposal", Requirements: []string{"JOB-10", "STV-18"}, Run: elasticForgetsIndexes},
	{Name: "parallelism-changes", Title: "Pods are deleted when parallelism is lowered, which does not count as failed, and created when it is raised",
		Source: "API: JobSpec.parallelism", Requirements: []string{"JOB-12", "TRK-14"}, Run: parallelismChanges},
}

func elasticGrows(t *suite.T) {
	j := t.Create(indexedMode, all(2))
	t.End(0, j.UntilRunning(2)[0])
	j.Patch(`{"spec":{"completions":4,"parallelism":4}}`)
	running := j.UntilRunning(3)
	suite.Equal(t, "the highest index that runs", 3, history.IndexOf(running[2]))
	t.End(0, running...)
	job := j.UntilComplete()
	wantCounts(t, job, 4, 0)
	suite.Equal(t, "completedIndexes", "0-3", job.Status.CompletedIndexes)
	wantPods(t, j, 4)
}

func elasticShrinks(t *suite.T) {
	j := t.Create(indexedMode, all(4))
	j.UntilRunning(4)
	j.Patch(`{"spec":{"completions":2,"parallelism":2}}`)
	running := j.UntilRunning(2)
	suite.Equal(t, "the highest index that runs", 1, history.IndexOf(running[1]))
	t.End(0, running...)
	job := j.UntilComplete()
	wantCounts(t, job, 2, 0)
	suite.Equal(t, "completedIndexes", "0,1", job.Status.CompletedIndexes)
	wantReleased(t, j)
}

func elasticForgetsIndexes(t *suite.T) {
	j := t.Create(indexedMode, all(3))
	t.End(0, j.UntilRunning(3)[2])
	j.UntilNow(`completedIndexes is "2"`, func(job *batchv1.Job) bool { return job.Status.CompletedIndexes == "2" })
	j.Patch(`{"spec":{"completions":2,"parallelism":2}}`)
	j.UntilNow(counts(2, 0, 0))
	suite.Equal(t, "completedIndexes", "", j.Now().Status.CompletedIndexes)
	j.Patch(`{"spec":{"completions":3,"parallelism":3}}`)
	t.End(0, j.UntilRunning(3)...)
	job := j.UntilComplete()
	wantCounts(t, job, 3, 0)
	suite.Equal(t, "completedIndexes", "0-2", job.Status.CompletedIndexes)
	wantPods(t, j, 4)
}

func parallelismChanges(t *suite.T) {
	j := t.Create(completions(4), parallelism(3))
	j.UntilRunning(3)
	j.Patch(`{"spec":{"parallelism":1}}`)
	j.UntilRunning(1)
	j.UntilNow(counts(1, 0, 0))
	j.Patch(`{"spec":{"parallelism":2}}`)
	j.UntilRunning(2)
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), 4, 0)
}
