package cases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var indexed = []suite.Case{
	{Name: "indexes-are-given-to-pods", Title: "Each pod has its index as annotation, label, variable and hostname",
		Source: "KEP-2214, Design Details; KEP-4017", Requirements: []string{"JOB-40", "JOB-41", "JOB-42"}, Run: indexesAreGivenToPods},
	{Name: "lowest-indexes-first", Title: "New pods take the lowest indexes that need one",
		Source: "KEP-2214, Design Details", Requirements: []string{"JOB-07"}, Run: lowestIndexesFirst},
	{Name: "completed-indexes-format", Title: "completedIndexes lists intervals of three or more with a hyphen",
		Source: "API: JobStatus.completedIndexes", Requirements: []string{"JOB-09", "JOB-06"}, Run: completedIndexesFormat},
	{Name: "failed-index-runs-again", Title: "An index whose pod has failed gets another pod, and no other index does", Slow: true,
		Source: "KEP-2214, Proposal", Requirements: []string{"JOB-06", "JOB-59"}, Run: failedIndexRunsAgain},
	{Name: "pods-follow-the-template", Title: "Pods have the labels, annotations, finalizers and spec of the template, and are named after the Job and their index",
		Source: "API: JobSpec.template, JobSpec.completionMode", Requirements: []string{"JOB-39", "JOB-43", "TRK-11"}, Run: podsFollowTheTemplate},
}

func indexesAreGivenToPods(t *suite.T) {
	j := t.Create(indexedMode, all(2))
	for i, pod := range j.UntilRunning(2) {
		index := strconv.Itoa(i)
		suite.Equal(t, "annotation "+batchv1.JobCompletionIndexAnnotation, index, pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		suite.Equal(t, "label "+batchv1.JobCompletionIndexAnnotation, index, pod.Labels[batchv1.JobCompletionIndexAnnotation])
		suite.Equal(t, "hostname", j.Name()+"-"+index, pod.Spec.Hostname)
		at := slices.IndexFunc(pod.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "JOB_COMPLETION_INDEX" })
		suite.Equal(t, "the container has the variable JOB_COMPLETION_INDEX", true, at >= 0)
	}
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), 2, 0)
}

func lowestIndexesFirst(t *suite.T) {
	j := t.Create(indexedMode, completions(4), parallelism(2))
	running := j.UntilRunning(2)
	suite.Equal(t, "the first index", 0, history.IndexOf(running[0]))
	suite.Equal(t, "the second index", 1, history.IndexOf(running[1]))
	t.End(0, running[1])
	j.UntilIndex(2)
	t.Observe("after index 1, index 2 runs")
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), 4, 0)
	wantPods(t, j, 4)
}

func completedIndexesFormat(t *suite.T) {
	j := t.Create(indexedMode, all(7))
	running := j.UntilRunning(7)
	for _, step := range []struct {
		index int
		want  string
	}{{1, "1"}, {3, "1,3"}, {4, "1,3,4"}, {5, "1,3-5"}, {2, "1-5"}} {
		t.End(0, running[step.index])
		j.UntilNow("completedIndexes is "+strconv.Quote(step.want), func(job *batchv1.Job) bool {
			return job.Status.CompletedIndexes == step.want
		})
	}
	t.End(0, running[0], running[6])
	job := j.UntilComplete()
	suite.Equal(t, "completedIndexes", "0-6", job.Status.CompletedIndexes)
	wantCounts(t, job, 7, 0)
}

func failedIndexRunsAgain(t *suite.T) {
	j := t.Create(indexedMode, all(3))
	running := j.UntilRunning(3)
	t.End(1, running[1])
	t.End(0, running[0], running[2])
	again := j.UntilIndex(1)
	suite.Equal(t, "the pod of index 1 is another one", true, again.UID != running[1].UID)
	t.End(0, again)
	job := j.UntilComplete()
	wantCounts(t, job, 3, 1)
	suite.Equal(t, "completedIndexes", "0-2", job.Status.CompletedIndexes)
	wantPods(t, j, 4)
}

func podsFollowTheTemplate(t *suite.T) {
	const key, value = "conformance.batchjob.dev/own", "yes"
	j := t.Create(indexedMode, all(2), func(job *batchv1.Job) {
		template := &job.Spec.Template
		template.Labels[key], template.Annotations = value, map[string]string{key: value}
		template.Finalizers, template.Spec.Subdomain = []string{key}, "workers"
	})
	running := j.UntilRunning(2)
	for i, pod := range running {
		suite.Equal(t, "generateName", fmt.Sprintf("%s-%d-", j.Name(), i), pod.GenerateName)
		suite.Equal(t, "the label of the template", value, pod.Labels[key])
		suite.Equal(t, "the annotation of the template", value, pod.Annotations[key])
		suite.Equal(t, "subdomain", "workers", pod.Spec.Subdomain)
	}
	t.End(0, running...)
	j.UntilComplete()
	wantReleased(t, j)
	for _, pod := range running {
		now, _ := t.Pod(pod)
		suite.Equal(t, "the finalizers of a pod that is counted", key, strings.Join(now.Finalizers, " "))
		t.PatchPod(pod, `{"metadata":{"finalizers":null}}`)
	}
}
