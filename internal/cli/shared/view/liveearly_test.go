package view

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func updatesOf(reason string) func(*snapshot.Snapshot) bool {
	return func(got *snapshot.Snapshot) bool {
		return got.Job != nil && slices.ContainsFunc(got.Job.Report.Timeline, func(m explain.Moment) bool { return strings.Contains(m.Text, reason) })
	}
}

// Issue 6.6: an event that arrives before its pod is shown once the pod is there, whatever the pod is called.
func TestEventWaitsForItsPod(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	s := startLive(t, api)
	s.open("train")
	s.untilWatching("jobs 2 pods 1 events 2")
	api.report("custom-pod", "FailedMount")
	s.pass(3 * time.Second)
	if updatesOf("FailedMount")(s.latest()) {
		t.Error("it is told of a pod that may be anybody's")
	}
	api.pods.Put(clitest.EndedPod(train, "custom-pod", 42, ""))
	s.until("the pod is there", func(got *snapshot.Snapshot) bool { return podNames(got) == "custom-pod" })
	s.until("its event is shown", updatesOf("FailedMount"))
	s.end()
}

// Issue 6.6: pods are listed before their events are searched.
func TestPodsAreReadBeforeTheirEvents(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "custom-pod", 42, ""))
	api.report("custom-pod", "FailedMount")
	answer := make(chan struct{})
	api.api.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			<-answer
		}
		return nil
	})
	s := startLive(t, api)
	s.source.Look(snapshot.Focus{Job: types.NamespacedName{Namespace: "ns1", Name: "train"}})
	s.untilWatching("jobs 2 pods 0 events 1")
	const ofPods = "/events?fieldSelector=involvedObject.kind%3DPod"
	assert.Equal(t, api.requests(ofPods), 0, "requests for events before the pods are known")
	close(answer)
	s.until("the event is shown", updatesOf("FailedMount"))
	s.end()
}
