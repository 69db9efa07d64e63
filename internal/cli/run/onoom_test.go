package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

var limitedTrain = strings.Replace(train, "image: i}", "image: i, resources: {limits: {memory: 256Mi}}}", 1)

// limitOf returns the memory limit of a Job's container.
func (s *server) limitOf(job string) string {
	containers, _, _ := unstructured.NestedSlice(s.Job(job).Object, "spec", "template", "spec", "containers")
	limit, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", "limits", "memory")
	return limit
}

// failAs fails index 1 of a Job, an attempt of the task, which ends that Job. With the reason Evicted, it is a disruption.
func (s *server) failAs(attempt int, job string, code int32, reason string) {
	pod := ofJob(clitest.TrainPod(fmt.Sprint("x", attempt), 1, 1, corev1.PodFailed, clitest.Exited(code)), job)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	if ended.Reason = reason; reason == "Evicted" {
		ended.Reason = "Error"
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
	}
	ended.StartedAt.Time, ended.FinishedAt.Time = clitest.Now(), clitest.Now().Add(time.Duration(attempt)*time.Second)
	pod.Spec.NodeName = "n1"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s.limitOf(job))},
	}}}
	s.Pods.WithLog(pod)
	s.finish(job, "Failed", "FailedIndexes", map[string]any{"failed": int64(1), "succeeded": int64(2), "completedIndexes": "0,2", "failedIndexes": "1"})
}

// What ran out of memory is retried with more, by a counter of its own; another failure, such as a
// disruption, is retried with the same memory.
// Requirements: RUN-20
func TestMemoryGrowsUntilTheJobCompletes(t *testing.T) {
	server := newServer(t)
	s := server.run(limitedTrain, "--retry=2", "--on-oom", "memory=x2,max=1Gi")
	server.failAs(1, "train", 137, "OOMKilled")
	s.WaitErr("train-retry-1 created (retry 1 of 2 with more memory). It runs index 1; the other 2 indexes count as done.\nContainer main gets 512Mi of memory instead of 256Mi; the cap is 1Gi.\n")
	server.failAs(2, "train-retry-1", 137, "Evicted")
	s.WaitErr("train-retry-2 created (retry 1 of 2). It runs index 1;")
	server.failAs(3, "train-retry-2", 1, "OOMKilled")
	s.WaitErr("train-retry-3 created (retry 2 of 2 with more memory).")
	s.WaitErr("Container main gets 1Gi of memory instead of 512Mi; the cap is 1Gi.\n")
	server.finish("train-retry-3", "Complete", "", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	s.Result().Want(t, cmdutil.ExitDone, "", "job.batch/train-retry-3 Complete")
	var limits []string
	for _, name := range []string{"train", "train-retry-1", "train-retry-2", "train-retry-3"} {
		limits = append(limits, server.limitOf(name))
	}
	assert.SlicesEqual(t, limits, []string{"256Mi", "512Mi", "512Mi", "1Gi"})
}

// At the cap, and when either counter is used up, the Job is not retried, and the result is a failure.
// Requirements: RUN-20
func TestMemoryRetriesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		args   string
		second string // the reason of the second failure
		text   string
	}{
		"at the cap":           {"--retry=2 --on-oom=memory=x2,max=512Mi", "OOMKilled", "Cannot retry job.batch/train-retry-1: container main had 512Mi of memory, and the cap is 512Mi"},
		"no memory retry left": {"--retry=1 --on-oom=memory=x2", "OOMKilled", ""},
		"no retry left":        {"--retry=1 --on-oom=memory=x2", "Error", "train-retry-2 created (retry 1 of 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			s := server.run(limitedTrain, strings.Fields(c.args)...)
			server.failAs(1, "train", 137, "OOMKilled")
			s.WaitErr("gets 512Mi of memory")
			server.failAs(2, "train-retry-1", 137, c.second)
			last := "train-retry-1"
			if c.second == "Error" {
				s.WaitErr(c.text)
				server.failAs(3, "train-retry-2", 137, "OOMKilled")
				last = "train-retry-2"
			}
			s.Result().Want(t, cmdutil.ExitJobFailed, "", "job.batch/"+last+" Failed")
			assert.Contains(t, s.ErrOut.String(), c.text)
			if c.text == "" && strings.Contains(s.ErrOut.String(), "Cannot retry") {
				t.Error(s.ErrOut.String())
			}
		})
	}
}

// Where a LimitRange does not allow more memory, a line says so, and the Job is not retried with the same.
// Requirements: RUN-22
func TestMemoryThatALimitRangeForbids(t *testing.T) {
	server := newServer(t)
	server.API.Answers = map[string]any{"api/v1/namespaces/ns1/limitranges": map[string]any{
		"kind": "LimitRangeList", "apiVersion": "v1", "items": []any{map[string]any{
			"metadata": map[string]any{"name": "small"}, "spec": map[string]any{"limits": []any{map[string]any{"type": "Pod", "max": map[string]any{"memory": "300Mi"}}}},
		}},
	}}
	s := server.run(limitedTrain, "--retry=2", "--on-oom", "memory=x2")
	server.failAs(1, "train", 137, "OOMKilled")
	s.Result().Want(t, cmdutil.ExitJobFailed, "", "job.batch/train Failed", "Cannot retry job.batch/train: the pod would get 512Mi of memory, and LimitRange small allows 300Mi\n")
}
