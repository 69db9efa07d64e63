package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
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

// exitedOnce returns a Job with one pod and backoffLimit 0.
func exitedOnce() input.Input {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Spec.BackoffLimit = ptr.To[int32](1), ptr.To[int32](1), ptr.To[int32](0)
		j.Status.Failed = 1
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	})
	in := explaintest.InputOf(job, explaintest.PodOf("train-tlgzn", saying("ValueError: learning rate must be positive", explaintest.Exits(1, "Error", 10*time.Minute))))
	in.RelativesRead = true
	in.Logs = []input.LogTail{{Pod: "train-tlgzn", Container: "main", Lines: []string{
		"step 1900 loss 0.461", "step 1950 loss 0.460", "Traceback (most recent call last):", `  File "train.py", line 31, in <module>`,
		"ValueError: learning rate must be positive",
	}}}
	return in
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

// A failed pod that is there can be debugged, unless there is a better step.
//
// Requirements: FCT-12
func TestFailedPodCanBeDebugged(t *testing.T) {
	debug := func(in input.Input) string {
		for _, a := range explaintest.Report(in).Advice {
			if a.Kind == explain.AdviceDebug {
				return a.Command
			}
		}
		return ""
	}
	silent := func(lines ...string) input.Input {
		in := exitedOnce()
		in.Pods = []*input.Pod{explaintest.PodOf("train-tlgzn", explaintest.Exits(1, "Error", 10*time.Minute))}
		in.Logs[0].Lines = lines
		return in
	}
	const want = "kubectl debug train-tlgzn -it --copy-to=train-tlgzn-debug --container=main -n ns -- sh"
	unread := silent()
	unread.Logs = nil // As on a simulated node, or without permission.
	for name, in := range map[string]input.Input{"silent": silent(), "a line in the log": silent("the learning rate must be positive"), "no log": unread} {
		assert.Equal(t, debug(in), want, name)
	}
	killed, absent, deleting := silent(), silent(), silent()
	killed.Pods = []*input.Pod{explaintest.PodOf("train-tlgzn", explaintest.Exits(137, "OOMKilled", 10*time.Minute))}
	absent.Pods = []*input.Pod{explaintest.PodOf("train-tlgzn", explaintest.Exits(127, "Error", 10*time.Minute))}
	deleting.Pods = []*input.Pod{explaintest.PodOf("train-tlgzn", func(p *corev1.Pod) {
		explaintest.Exits(1, "Error", 10*time.Minute)(p)
		p.DeletionTimestamp = ptr.To(explaintest.Ago(time.Minute))
	})}
	for name, in := range map[string]input.Input{
		"out of memory": killed, "no such command": absent, "being deleted": deleting,
	} {
		assert.Equal(t, debug(in), "", name)
	}
}
