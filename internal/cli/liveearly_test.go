package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

func tellsOf(reason string) func(*snapshot.Snapshot) bool {
	return func(got *snapshot.Snapshot) bool {
		return got.Job != nil && slices.ContainsFunc(got.Job.Report.Timeline, func(m explain.Moment) bool { return strings.Contains(m.Text, reason) })
	}
}

// Issue 6.6: an event that comes before its pod is told once the pod is there, whatever the pod is called.
func TestLiveEarlyEvent_Issue6_6(t *testing.T) {
	train := explainedJob("ns1", "train")
	api := newFakeLive(t, train)
	s := startLive(t, api)
	s.open("train")
	s.untilWatching("jobs 2 pods 1 events 2")
	api.report("custom-pod", "FailedMount")
	s.pass(3 * time.Second)
	if tellsOf("FailedMount")(s.latest()) {
		t.Error("it is told of a pod that may be anybody's")
	}
	api.pods.put(endedPod(train, "custom-pod", 42, ""))
	s.until("the pod is there", func(got *snapshot.Snapshot) bool { return podNames(got) == "custom-pod" })
	s.until("its event is told", tellsOf("FailedMount"))
	s.end()
}

// Issue 6.6: which pods there are is known before their events are looked through.
func TestLivePodsBeforeEvents_Issue6_6(t *testing.T) {
	train := explainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.put(endedPod(train, "custom-pod", 42, ""))
	api.report("custom-pod", "FailedMount")
	answer := make(chan struct{})
	api.api.setRefuse(func(r *http.Request) *fakeStatus {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			<-answer
		}
		return nil
	})
	s := startLive(t, api)
	s.source.Look(snapshot.Focus{Job: snapshot.JobKey{Namespace: "ns1", Name: "train"}})
	s.untilWatching("jobs 2 pods 0 events 1")
	const ofPods = "/events?fieldSelector=involvedObject.kind%3DPod"
	if n := api.requests(ofPods); n != 0 {
		t.Errorf("events of pods were asked for %d times before the pods were known", n)
	}
	close(answer)
	s.until("the event is told", tellsOf("FailedMount"))
	s.end()
}

// Issue 6: events of pods that nobody knows are kept for a moment, and no more than some, the latest.
func TestLiveEarlyEventsBound_Issue6(t *testing.T) {
	events := &newLiveFacts().events[1]
	now := testNow()
	mine := func(string) bool { return true }
	var all []earlyEvent
	for i := range 3 * maxEarlyEvents {
		last := now.Add(time.Duration(i) * time.Second)
		all = append(all, earlyEvent{name: fmt.Sprint("old-", i), event: explain.Event{Pod: fmt.Sprint("pod-", i), Last: last}})
	}
	slices.Reverse(all)
	events.setEarly(now, all)
	for i := range 2 * maxEarlyEvents {
		events.putEarly(now.Add(earlyFor), fmt.Sprint("new-", i), explain.Event{Pod: fmt.Sprint("pod-", i)})
		if len(events.early) > maxEarlyEvents || i == 0 && events.early[0].name != fmt.Sprint("old-", 2*maxEarlyEvents+1) {
			t.Fatalf("%d are kept, first %s", len(events.early), events.early[0].name)
		}
	}
	events.putEarly(now.Add(earlyFor), fmt.Sprint("new-", 2*maxEarlyEvents-1), explain.Event{Pod: "again"})
	events.forgetEarly(fmt.Sprint("new-", 2*maxEarlyEvents-2))
	if last := events.early[len(events.early)-1]; len(events.early) != maxEarlyEvents-1 || last.event.Pod != "again" {
		t.Errorf("%d are kept, last %+v", len(events.early), last)
	}
	events.match(now.Add(earlyFor), func(pod string) bool { return pod == "again" })
	if got := events.rows.names; len(got) != 1 || got[0] != fmt.Sprint("new-", 2*maxEarlyEvents-1) || len(events.early) != maxEarlyEvents-2 {
		t.Errorf("taken over: %q, %d are left", got, len(events.early))
	}
	events.match(now.Add(2*earlyFor+1), mine)
	if len(events.rows.rows) != 1 || len(events.early) != 0 {
		t.Errorf("%d are taken over, %d are left, after their time", len(events.rows.rows), len(events.early))
	}
}
