package view

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// CLI-06, issue 17: the list shows the begin and the end of a stall, without watching pods or events. For a list of
// running Jobs, the only cost is its own watch.
func TestLiveListShowsStalls(t *testing.T) {
	job := clitest.SimpleJob("ns1", "train", 0)
	job.Object["spec"].(map[string]any)["parallelism"] = int64(1) // No pod is missing.
	status := job.Object["status"].(map[string]any)
	status["active"], status["ready"] = int64(1), int64(1)
	api := newFakeLive(t, job)
	s := startLive(t, api)
	stall := func(got *snapshot.Snapshot) *explain.Stall { return got.Jobs.Items[0].Stalled }
	s.until("it runs", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/train" && stall(got) == nil })
	if n := api.requests("/pods") + api.requests("/events"); n > 0 {
		t.Errorf("%d requests for a Job that runs", n)
	}
	pod := clitest.EndedPod(job, "train-a", 0, "")
	pod.Labels["batch.kubernetes.io/job-name"] = "train"
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: clitest.Waits("ImagePullBackOff", "")}}}
	api.pods.Put(pod)
	status["ready"] = int64(0)
	api.api.Put(job)
	s.until("it is stalled", func(got *snapshot.Snapshot) bool { return stall(got) != nil && stall(got).Reason == "ImagePullBackOff" })
	api.pods.Remove("train-a")
	s.until("it is not", func(got *snapshot.Snapshot) bool { return stall(got) == nil })
	assert.Equal(t, api.watching(), "jobs 1 pods 0 events 0")
	s.end()
}

// CLI-08: a forbidden read is a gap in the list, and does not end it.
func TestLiveListHasGapsForStalls(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "train", 0))
	api.rest.RefusePath("/events", 403, "Forbidden")
	s := startLive(t, api)
	s.until("there is a gap", func(got *snapshot.Snapshot) bool {
		return got.Jobs != nil && len(got.Jobs.Gaps) == 1 && got.Jobs.Gaps[0].What == "events"
	})
	s.end()
}

// Requirements: CLI-08. A row shows why its Job fails once that may be read, although no more pods have failed.
func TestLiveListAsksAgainWhyJobsFail(t *testing.T) {
	job := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, job)
	pod := clitest.EndedPod(job, "train-a", 1, "")
	pod.Labels["batch.kubernetes.io/job-name"] = "train"
	api.pods.Put(pod)
	api.rest.RefusePath("/pods", 403, "Forbidden")
	s := startLive(t, api)
	s.until("the list has asked", func(got *snapshot.Snapshot) bool { return got.Jobs != nil && api.requests("/pods?") > 0 })
	asked := api.requests("/pods?")
	s.pass(30 * time.Second)
	if n := api.requests("/pods?") - asked; n > 1 { // One may have been due.
		t.Errorf("asked %d times more in 30 s", n)
	}
	api.api.SetRefuse(nil)
	s.until("the cause is known", func(got *snapshot.Snapshot) bool {
		why := got.Jobs.Items[0].Why
		return why != nil && len(why.Causes) > 0
	})
	s.end()
}
