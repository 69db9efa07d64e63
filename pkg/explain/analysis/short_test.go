package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// saying adds a termination message.
func saying(message string, change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Status.ContainerStatuses[0].State.Terminated.Message = message
	}
}

// outOfMemory returns a Job with two pods that were OOMKilled.
func outOfMemory() input.Input {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Spec.BackoffLimit = ptr.To[int32](1), ptr.To[int32](1), ptr.To[int32](1)
		j.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		j.Status.Failed = 2
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	})
	limited := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			explaintest.Exits(137, "OOMKilled", d)(p)
			p.Spec.Containers[0].Resources = job.Spec.Template.Spec.Containers[0].Resources
		}
	}
	in := explaintest.InputOf(job, explaintest.PodOf("train-tlgzn", limited(20*time.Minute)), explaintest.PodOf("train-x7k2p", limited(10*time.Minute)))
	in.RelativesRead = true
	return in
}

// Requirements: CLI-42. Any error exits with 1, and pods that are preempted or evicted with 137 or 143: a rule that fails the
// Job for these would fail it for more than its cause.
func TestNoRuleIsAdvisedForCodesOfSeveralCauses(t *testing.T) {
	for code, want := range map[int32]bool{1: false, 2: true, 42: true, 137: false, 143: false} {
		in := outOfMemory()
		in.Pods = []*input.Pod{explaintest.PodOf("train-a", explaintest.Exits(code, "Error", 20*time.Minute)), explaintest.PodOf("train-b", explaintest.Exits(code, "Error", 10*time.Minute))}
		advised := false
		for _, a := range explaintest.Report(in).Advice {
			advised = advised || a.Policies != nil
		}
		assert.Equalf(t, advised, want, "exit code %d: a rule is advised", code)
	}
}
