package cases

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var completion = []suite.Case{
	{Name: "completes", Title: "A Job is Complete when its completions are reached",
		Source: "API: JobSpec.completions", Requirements: []string{"JOB-02", "SUC-16"}, Run: completes},
	{Name: "completes-in-turns", Title: "No more pods than parallelism run at a time",
		Source: "API: JobSpec.parallelism", Requirements: []string{"JOB-02"}, Run: completesInTurns},
	{Name: "completes-without-pods", Title: "A Job with completions 0 is Complete without pods",
		Source: "API: JobSpec.completions", Requirements: []string{"JOB-05"}, Run: completesWithoutPods},
	{Name: "parallelism-zero", Title: "A Job with parallelism 0 has no pods until parallelism is raised",
		Source: "API: JobSpec.parallelism", Requirements: []string{"JOB-05"}, Run: parallelismZero},
	{Name: "work-queue", Title: "A Job without completions is Complete when a pod has succeeded and all have ended",
		Source: "API: JobSpec.completions", Requirements: []string{"JOB-03"}, Run: workQueue},
	{Name: "surplus-pods", Title: "No more pods run than completions need",
		Source: "API: JobSpec.parallelism", Requirements: []string{"JOB-63"}, Run: surplusPods},
	{Name: "counts-active-and-ready", Title: "active and ready count the pods that run",
		Source: "KEP-2879, Proposal", Requirements: []string{"JOB-32"}, Run: countsActiveAndReady},
	{Name: "times", Title: "startTime and completionTime are when the Job was started and was completed",
		Source: "API: JobStatus.startTime, JobStatus.completionTime", Requirements: []string{"JOB-22", "STV-10"}, Run: times},
	{Name: "work-queue-keeps-its-pods", Title: "Once a pod of a Job without completions has succeeded, pods that fail count, and are not replaced",
		Source: "API: JobSpec.completions", Requirements: []string{"JOB-03", "JOB-04"}, Run: workQueueKeepsItsPods},
}

func completes(t *suite.T) {
	j := t.Create()
	t.End(0, j.UntilRunning(1)...)
	job := j.UntilComplete()
	wantCounts(t, job, 1, 0)
	suite.Equal(t, "the Job has SuccessCriteriaMet", true, history.Is(job, batchv1.JobSuccessCriteriaMet))
	suite.Equal(t, "the reason of Complete", batchv1.JobReasonCompletionsReached, history.Condition(job, batchv1.JobComplete).Reason)
	wantPods(t, j, 1)
}

func completesInTurns(t *suite.T) {
	j := t.Create(completions(5), parallelism(2))
	j.UntilRunning(2)
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), 5, 0)
	wantPods(t, j, 5)
	for _, job := range j.Versions() {
		if job.Status.Active > 2 {
			t.Errorf("active is at most 2", "active was %d", job.Status.Active)
		}
	}
}

func completesWithoutPods(t *suite.T) {
	j := t.Create(completions(0))
	wantCounts(t, j.UntilComplete(), 0, 0)
	wantPods(t, j, 0)
}

func parallelismZero(t *suite.T) {
	j := t.Create(completions(1), parallelism(0))
	j.Until("the Job has a startTime", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	wantPods(t, j, 0)
	j.Patch(`{"spec":{"parallelism":1}}`)
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 0)
}

func workQueue(t *suite.T) {
	j := t.Create(parallelism(3))
	running := j.UntilRunning(3)
	t.End(0, running[0])
	j.Until(counts(2, 1, 0))
	suite.Equal(t, "the Job is finished with active pods", false, history.IsFinished(j.Now()))
	t.End(0, running[1:]...)
	wantCounts(t, j.UntilComplete(), 3, 0)
	wantPods(t, j, 3)
}

func surplusPods(t *suite.T) {
	j := t.Create(completions(2), parallelism(5))
	j.Until(counts(2, 0, 0))
	t.End(0, j.UntilRunning(2)...)
	wantCounts(t, j.UntilComplete(), 2, 0)
	wantPods(t, j, 2)
}

func countsActiveAndReady(t *suite.T) {
	j := t.Create(all(3))
	running := j.UntilRunning(3)
	j.UntilNow("active and ready are 3", func(job *batchv1.Job) bool {
		return job.Status.Active == 3 && job.Status.Ready != nil && *job.Status.Ready == 3
	})
	t.End(0, running[0])
	j.UntilNow("active and ready are 2", func(job *batchv1.Job) bool {
		return job.Status.Active == 2 && job.Status.Ready != nil && *job.Status.Ready == 2
	})
	t.End(0, running[1:]...)
	job := j.UntilComplete()
	suite.Equal(t, "active", 0, job.Status.Active)
	suite.Equal(t, "ready", 0, *job.Status.Ready)
}

func times(t *suite.T) {
	j := t.Create()
	started := j.Until("the Job has a startTime", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	suite.Equal(t, "the Job that runs has a completionTime", false, started.Status.CompletionTime != nil)
	t.End(0, j.UntilRunning(1)...)
	job := j.UntilComplete()
	if !job.Status.StartTime.Equal(started.Status.StartTime) {
		t.Errorf("startTime stays as it is", "it was %v, and is %v", started.Status.StartTime, job.Status.StartTime)
	}
	if job.Status.CompletionTime == nil || job.Status.CompletionTime.Before(job.Status.StartTime) {
		t.Errorf("completionTime is not before startTime", "completionTime is %v, startTime %v", job.Status.CompletionTime, job.Status.StartTime)
	}
}

func workQueueKeepsItsPods(t *suite.T) {
	j := t.Create(parallelism(3))
	running := j.UntilRunning(3)
	t.End(0, running[0])
	j.Until(counts(2, 1, 0))
	t.End(1, running[1])
	j.UntilNow(counts(1, 1, 1))
	t.Fence()
	t.End(0, running[2])
	wantCounts(t, j.UntilComplete(), 2, 1)
	wantPods(t, j, 3)
}
