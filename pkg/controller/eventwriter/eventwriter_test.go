package eventwriter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// startWriter starts a Writer with its workers. The test can read its log, and runs in a bubble of synctest: the end of a Writer
// has a time limit that does not come from the clock.
func startWriter(t *testing.T, api *eventAPI) (*Writer, *clocktesting.FakeClock, ktesting.Buffer) {
	t.Helper()
	clock := clocktesting.NewFakeClock(testTime)
	w := New(testConfig(clock))
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	w.Start(klog.NewContext(t.Context(), logger), kubefake.Client(api))
	return w, clock, logger.GetSink().(ktesting.Underlier).GetBuffer()
}

func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return reached(), nil }); err != nil {
		t.Fatalf("waited in vain until %s", what)
	}
}

// JOB-47: events added before the end are written before the end: no other process emits them again.
func TestEventsAreWrittenBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newEventAPI()
		w, _, _ := startWriter(t, api)
		const n = 20
		for i := range n {
			w.Event(eventJob("a"), corev1.EventTypeNormal, fmt.Sprintf("Reason%d", i), "message")
		}
		w.Stop()
		assert.Equal(t, len(api.events), n, "written events")
		for _, e := range api.events {
			about := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: "ns", Name: "a", UID: "uid-of-a"}
			if e.Source.Component != cluster.FieldManager || e.ReportingController != cluster.FieldManager || e.InvolvedObject != about || e.Namespace != "ns" || !e.FirstTimestamp.Time.Equal(testTime) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// JOB-47, SCL-03: any number of pods that come and go prevents no other event, not even at the end of the process,
// which does not take longer: the pending pods become one event.
func TestPodsCostNoOtherEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newEventAPI()
		w, _, _ := startWriter(t, api)
		for i := range 5000 {
			w.Pods(eventJob("a"), eventPodCreated, "Created", []string{fmt.Sprintf("a-%04d", i)})
			w.Pods(eventJob(fmt.Sprintf("b-%d", i/10)), eventPodDeleted, "Deleted", []string{"p", "q", "r", "s", "t", "u"})
		}
		w.Event(eventJob("a"), corev1.EventTypeNormal, eventCompleted, "Job completed")
		w.Failures(eventJob("a"), eventPodFailed, failedFor("Evicted", "a-0007"), 1)
		begun := time.Now()
		w.Stop()
		if took := time.Since(begun); took >= maxDrain {
			t.Errorf("the end took %v", took)
		}
		if api.made("create "+eventCompleted) != 1 || api.made("create "+eventPodFailed) != 1 || podsReported(t, api, eventPodDeleted) != 30_000 {
			t.Errorf("%d events: Completed %d, PodFailed %d, %d pods deleted", len(api.calls), api.made("create "+eventCompleted), api.made("create "+eventPodFailed), podsReported(t, api, eventPodDeleted))
		}
		// The burst and, at the end, the pending pods: one event, or one event each for a few pods.
		if n := api.made("create " + eventPodCreated); n > laneBurst+namedPods {
			t.Errorf("%d events about the pods of one Job", n)
		}
		assert.Equal(t, podsReported(t, api, eventPodCreated), 5000, "pods in events")
	})
}

// A failed event is retried after a growing wait, which new messages do not shorten; other events do not wait for it.
// Requirements: JOB-47
func TestEventIsTriedAgain(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	busy := apierrors.NewTooManyRequests("busy", 1)
	api.before = func(string, int) error { return busy }
	say := func() { w.Event(eventJob("a"), corev1.EventTypeWarning, "Reason", "message") }
	say()
	key := laneKey{object: "uid-of-a", reason: "Reason"}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		want *= time.Second
		if wait, more := w.writeNext(key); wait != want || !more || len(api.calls) != i+1 {
			t.Fatalf("after try %d (of %d calls) it waits %v, want %v", i+1, len(api.calls), wait, want)
		}
		w.clock.Step(want - time.Millisecond)
		say()
		if wait, _ := w.writeNext(key); wait != time.Millisecond || len(api.calls) != i+1 {
			t.Fatalf("before the wait is over: %d calls, and then %v", len(api.calls), wait)
		}
		w.clock.Step(time.Millisecond)
	}
	api.before = func(_ string, n int) error {
		if n == 9 {
			return busy
		}
		return nil
	}
	w.Event(eventJob("b"), corev1.EventTypeWarning, "Other", "message")
	w.write()
	api.want(t, "another Job", "Other x1: message")
	w.clock.Step(time.Minute)
	w.wake()
	api.want(t, "at last", "Other x1: message", "Reason x9: message")
}

// An event beyond the budget of a lane is written when the budget allows it, even if no message is added.
// Requirements: SCL-03
func TestLaneIsContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newEventAPI()
		w, clock, _ := startWriter(t, api)
		defer w.Stop()
		for i := range laneBurst {
			w.Event(eventJob("a"), corev1.EventTypeWarning, "Reason", fmt.Sprint(i))
			until(t, "it is written", func() bool { return api.made("create") == i+1 })
		}
		w.Event(eventJob("a"), corev1.EventTypeWarning, "Reason", "last")
		// Step by step: the test cannot see when the worker begins to wait.
		until(t, "the last one is written", func() bool {
			clock.Step(lanePeriod / 10)
			return api.made("create") == laneBurst+1
		})
	})
}

// An event that the API server rejects is left out, with one line in the log; a namespace that is deleted takes its
// events along.
// Requirements: JOB-47
func TestRejectedEventIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newEventAPI()
		api.before = func(string, int) error { return apierrors.NewForbidden(eventResource, "x", errors.New("no role")) }
		w, _, log := startWriter(t, api)
		for i := range 10 {
			w.Event(eventJob("a"), corev1.EventTypeWarning, fmt.Sprintf("Reason%d", i), "message")
		}
		w.Stop()
		assert.Equalf(t, len(api.calls), 10, "calls for 10 events: %q", api.calls)
		assert.Equalf(t, strings.Count(log.String(), "no role"), 1, "lines in the log: %s", log.String())
		terminating := apierrors.NewForbidden(eventResource, "x", nil)
		terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		api.before = func(string, int) error { return terminating }
		w, _, log = startWriter(t, api)
		w.Event(eventJob("a"), corev1.EventTypeWarning, "Reason", "message")
		w.Stop()
		if len(api.calls) != 11 || log.String() != "" {
			t.Errorf("calls %q, log %s", api.calls, log.String())
		}
	})
}

// The end of a process waits for an API server that does not respond, but not for long; it tries the most important
// events first.
// Requirements: JOB-47
func TestEndDoesNotWaitLongForTheAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newEventAPI()
		gone := true
		api.before = func(string, int) error {
			if gone {
				return errors.New("connection refused")
			}
			return nil
		}
		w, _, _ := startWriter(t, api)
		w.Pods(eventJob("a"), eventPodCreated, "Created", []string{"a-1"})
		w.Event(eventJob("a"), corev1.EventTypeNormal, eventCompleted, "Job completed")
		until(t, "both were tried", func() bool { return api.made("create") == 2 })
		begun := time.Now()
		w.Stop()
		if took := time.Since(begun); took >= maxDrain || len(api.calls) != 4 {
			t.Errorf("the end took %v, and the calls were %q", took, api.calls)
		}
		gone, api.calls = false, nil
		w, clock, _ := startWriter(t, api)
		w.mu.Lock() // Nothing is written before the end.
		for _, q := range w.queues {
			q.ShutDown()
		}
		w.mu.Unlock()
		w.Pods(eventJob("a"), eventPodCreated, "Created", []string{"a-1"})
		clock.Step(time.Second)
		w.Event(eventJob("a"), corev1.EventTypeNormal, "Resumed", "Job resumed")
		clock.Step(time.Second)
		w.Event(eventJob("a"), corev1.EventTypeNormal, eventCompleted, "Job completed")
		w.Stop()
		assert.SlicesEqual(t, api.calls, []string{"create Resumed", "create Completed", "create SuccessfulCreate"}, "calls")
	})
}

// Bounded: of more lanes than can wait, the new lanes are left out; idle lanes are removed.
// Requirements: SCL-11
func TestEventsAreBounded(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	for i := range maxBusy + 5 {
		w.Pods(eventJob(fmt.Sprintf("a-%d", i)), eventPodCreated, "Created", []string{"p"})
	}
	w.Event(eventJob("b"), corev1.EventTypeNormal, eventCompleted, "Job completed")
	w.write()
	if n := api.made("create"); n != maxBusy+1 || api.made("create Completed") != 1 {
		t.Errorf("%d events", n)
	}
	w.clock.Step(keepLane)
	w.Event(eventJob("c"), corev1.EventTypeNormal, eventCompleted, "Job completed")
	if n := len(w.lanes.of); n != 1 || w.lanes.busy != [queues]int{1, 0} {
		t.Errorf("%d objects are known, %v lanes are busy", n, w.lanes.busy)
	}
	w.write()
	assert.Equal(t, w.lanes.busy, [queues]int{}, "busy lanes")
}

// Short Jobs do not fill the memory with lanes for events that never come.
// Requirements: SCL-11
func TestLanesOfFinishedJobsAreNotKept(t *testing.T) {
	w := newSteppedWriter(t, newEventAPI())
	w.Event(eventJob("runs"), corev1.EventTypeNormal, eventPodCreated, "Created pod: p")
	w.Event(eventJob("ends"), corev1.EventTypeNormal, eventPodCreated, "Created pod: q")
	w.write()
	w.Event(eventJob("ends"), corev1.EventTypeNormal, eventCompleted, "Job completed")
	w.Finished(eventJob("ends"))
	assert.Equal(t, len(w.lanes.of), 2, "known objects before the last event is written")
	w.write()
	if n := len(w.lanes.of); n != 1 || w.lanes.of[eventJob("runs").UID] == nil {
		t.Errorf("%d objects are known after it", n)
	}
}

// An event that cannot be written for an hour is dropped.
// Requirements: JOB-47
func TestOldEventsAreLeftOut(t *testing.T) {
	api := newEventAPI()
	api.before = func(string, int) error {
		return apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "create", eventResource, "x", "", 0, true)
	}
	w := newSteppedWriter(t, api)
	w.Event(eventJob("a"), corev1.EventTypeNormal, eventCompleted, "Job completed")
	w.write()
	w.clock.Step(maxEventAge - time.Second)
	w.Event(eventJob("b"), corev1.EventTypeNormal, eventCompleted, "Job completed")
	w.wake()
	if w.lanes.busy[urgent] != 2 || len(api.calls) != 3 {
		t.Errorf("given up too soon: %q", api.calls)
	}
	w.clock.Step(10 * time.Second)
	w.wake()
	if w.lanes.busy[urgent] != 1 || len(api.calls) != 5 {
		t.Errorf("not given up: %q", api.calls)
	}
}

// podsReported returns the number of pods that the events of a reason report.
func podsReported(t *testing.T, api *eventAPI, reason string) (n int) {
	t.Helper()
	for _, e := range api.events {
		if e.Reason != reason {
			continue
		}
		var verb string
		pods := 0
		if _, err := fmt.Sscanf(e.Message, "%s %d pods:", &verb, &pods); err != nil {
			assert.Contains(t, e.Message, " pod: ")
			pods = 1
		}
		n += pods * int(e.Count)
	}
	return n
}
