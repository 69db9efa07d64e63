package eventwriter

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// restarted returns the writer of a new process, after it has reported failures of the given numbers of pods.
func (a *eventAPI) restarted(t *testing.T, pods ...int) steppedWriter {
	t.Helper()
	w := newSteppedWriter(t, a)
	for i, n := range pods {
		w.clock.Step(time.Duration(i) * time.Second)
		w.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-7"), n)
		w.write()
	}
	return w
}

// The next process, or another leader at the same time, continues the count of the same event; one write is enough if
// the event is known (JOB-47).
func TestNextProcessContinuesTheCount(t *testing.T) {
	api := newEventAPI()
	first := api.restarted(t, 3, 2)
	api.want(t, "one process", "PodFailed x5: Pod failed: Cause. First in pod a-7")
	assert.SlicesEqual(t, api.calls, []string{"create PodFailed", "patch PodFailed"}, "calls")
	second := api.restarted(t, 10)
	api.want(t, "the next process", "PodFailed x15: Pod failed: Cause. First in pod a-7")
	first.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-8"), 100)
	first.write()
	second.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-9"), 1000)
	second.write()
	api.want(t, "both at once", "PodFailed x1115: Pod failed: Cause. First in pod a-7")
	for _, e := range api.events {
		if !e.FirstTimestamp.Time.Equal(testTime) || !e.LastTimestamp.Time.Equal(testTime.Add(time.Second)) && !e.LastTimestamp.Time.Equal(testTime) {
			t.Errorf("from %v to %v", e.FirstTimestamp, e.LastTimestamp)
		}
	}
	// The same text is also one event; another text is not, nor is the event of another Job of the name.
	third := newSteppedWriter(t, api)
	for range 2 {
		third.Event(eventJob("a"), corev1.EventTypeNormal, "Suspended", "Job suspended")
		third.write()
	}
	recreated := eventJob("a")
	recreated.UID = "another"
	third.Event(recreated, corev1.EventTypeNormal, "Suspended", "Job suspended")
	third.Event(eventJob("a"), corev1.EventTypeNormal, "Suspended", "Other")
	third.write()
	api.want(t, "texts", "PodFailed x1115: Pod failed: Cause. First in pod a-7", "Suspended x1: Job suspended", "Suspended x1: Other", "Suspended x2: Job suspended")
}

// CLI-04: the event about failed pods also holds its message as a value, even when another process increases its count
// or writes it again.
func TestFailureEventsCarryTheirCause(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	check := func(what string, want cause.Record) {
		t.Helper()
		w.write()
		for _, e := range api.events {
			r, ok := cause.Parse(e.Annotations[cause.Annotation])
			if e.Reason == eventPodFailed && (!ok || r != want || r.Message() != e.Message) {
				t.Errorf("%s: %v %+v, message %q", what, ok, r, e.Message)
			}
		}
	}
	first := failedFor("Evicted", "a-7")
	w.Failures(eventJob("a"), eventPodFailed, first, 1)
	w.Event(eventJob("a"), corev1.EventTypeNormal, "Suspended", "Job suspended")
	check("written", first)
	w.Failures(eventJob("a"), eventPodFailed, failedFor("Evicted", "a-8"), 1)
	check("raised", first)
	api.forget()
	w.Failures(eventJob("a"), eventPodFailed, failedFor("Evicted", "a-9"), 1)
	check("written again", first)
	if known := api.eventTexts(); len(known) == 0 || !strings.Contains(known[0], "x3") {
		t.Errorf("%q", known)
	}
}

// An event may be deleted at any time. A process that knows its count continues the count.
// Requirements: JOB-47
func TestDeletedEventKeepsItsCount(t *testing.T) {
	api := newEventAPI()
	w := api.restarted(t, 3)
	api.forget()
	w.clock.Step(time.Minute)
	w.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-99"), 2)
	w.write()
	api.want(t, "forgotten", "PodFailed x5: Pod failed: Cause. First in pod a-7")
	for _, e := range api.events {
		if !e.FirstTimestamp.Time.Equal(testTime) || !e.LastTimestamp.Time.Equal(testTime.Add(time.Minute)) {
			t.Errorf("from %v to %v", e.FirstTimestamp, e.LastTimestamp)
		}
	}
	// It is deleted between two calls of one write.
	api.forget()
	next := newSteppedWriter(t, api)
	api.before = func(_ string, n int) error {
		if n == len(api.calls) && api.calls[n-1] == "create" && len(api.events) == 0 {
			api.before = func(string, int) error { return nil }
			return apierrors.NewAlreadyExists(eventResource, "x")
		}
		return nil
	}
	next.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-7"), 4)
	next.write()
	api.want(t, "forgotten meanwhile", "PodFailed x4: Pod failed: Cause. First in pod a-7")
}

// A lost response does not lead to a wrong count, whether or not the write was stored, and whether it created the event
// or changed it.
// Requirements: JOB-47
func TestLostAnswerDoesNotChangeTheCount(t *testing.T) {
	lost := errors.New("connection lost")
	for name, c := range map[string]struct {
		at      int
		reached bool
	}{
		"create, before": {1, false}, "create, after": {1, true},
		"patch, before": {2, false}, "patch, after": {2, true},
	} {
		api := newEventAPI()
		fail := func(_ string, n int) error {
			if n == c.at {
				return lost
			}
			return nil
		}
		if c.reached {
			api.after = fail
		} else {
			api.before = fail
		}
		w := api.restarted(t, 3, 2)
		w.clock.Step(time.Minute)
		w.wake()
		api.want(t, name, "PodFailed x5: Pod failed: Cause. First in pod a-7")
		// The same holds for an event that existed before, with any count and of any time.
		api.calls = nil
		next := api.restarted(t, 5)
		next.clock.Step(time.Minute)
		next.wake()
		api.want(t, name+", the next process", "PodFailed x10: Pod failed: Cause. First in pod a-7")
	}
}

// Another client may have written any count; an event that changes with every try is left for later.
// Requirements: JOB-47
func TestEventsEditedByOthersDoNoHarm(t *testing.T) {
	api := newEventAPI()
	w := api.restarted(t, 1)
	for _, e := range api.events {
		e.Count = math.MaxInt32 - 1
	}
	next := api.restarted(t, 5)
	api.want(t, "nearly full", "PodFailed x2147483647: Pod failed: Cause. First in pod a-7")
	for _, e := range api.events {
		e.Count = -4
		e.ResourceVersion = "77"
	}
	next.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-7"), 5)
	next.write()
	api.want(t, "negative", "PodFailed x5: Pod failed: Cause. First in pod a-7")
	api.calls = nil
	api.before = func(string, int) error { return apierrors.NewConflict(eventResource, "x", nil) }
	w.Failures(eventJob("a"), eventPodFailed, failedFor("Cause", "a-7"), 1)
	w.write()
	if len(api.calls) != 2 || w.lanes.busy[urgent] != 1 {
		t.Errorf("calls %q, %d lanes are busy", api.calls, w.lanes.busy[urgent])
	}
	// This time the event changes after each read.
	w.clock.Step(time.Minute)
	api.calls, api.before = nil, func(string, int) error { return nil }
	api.after = func(string, int) error {
		for _, e := range api.events {
			e.ResourceVersion += "0"
		}
		return nil
	}
	w.wake()
	if len(api.calls) != 10 || w.lanes.busy[urgent] != 1 {
		t.Errorf("calls %q, %d lanes are busy", api.calls, w.lanes.busy[urgent])
	}
}

// Names are valid for the API server, whatever the Job's name; messages are not too long, and their last character is
// complete.
// Requirements: JOB-47
func TestEventsFitTheLimits(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	for _, name := range []string{"a", strings.Repeat("n", 253), strings.Repeat("n", 235) + "-.-" + strings.Repeat("n", 15)} {
		w.Event(eventJob(name), corev1.EventTypeWarning, "Reason", strings.Repeat("ü", 2000))
	}
	w.Failures(eventJob("a"), eventPodFailed, failedFor(strings.Repeat("c", 5000), "a-7"), 1)
	w.write()
	assert.Equal(t, len(api.events), 4, "events")
	for name, e := range api.events {
		if problems := validation.NameIsDNSSubdomain(name, false); len(problems) > 0 || !strings.HasPrefix(name, e.InvolvedObject.Name[:1]) {
			t.Errorf("%s: %v", name, problems)
		}
		if len(e.Message) > maxMessage || len(e.Message) < maxMessage-4 || strings.ContainsRune(e.Message, '\uFFFD') || !strings.HasSuffix(e.Message, "...") {
			t.Errorf("%d bytes: %q", len(e.Message), e.Message)
		}
	}
}
