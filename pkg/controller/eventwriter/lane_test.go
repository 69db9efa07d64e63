package eventwriter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-47, SCL-03: a few pods are reported one by one, in the order of their names; more pods are one event with the
// first three names, whatever their order.
func TestManyPodsShareAnEvent(t *testing.T) {
	for name, c := range map[string]struct {
		pods []string
		want []string
	}{
		"one": {[]string{"a-x"}, []string{"SuccessfulCreate x1: Created pod: a-x"}},
		"five": {[]string{"e", "d", "b", "c", "a"}, []string{
			"SuccessfulCreate x1: Created pod: a", "SuccessfulCreate x1: Created pod: b", "SuccessfulCreate x1: Created pod: c",
			"SuccessfulCreate x1: Created pod: d", "SuccessfulCreate x1: Created pod: e",
		}},
		"six": {[]string{"f", "e", "d", "b", "c", "a"}, []string{"SuccessfulCreate x1: Created 6 pods: a, b, c and 3 more"}},
	} {
		api := newEventAPI()
		w := newSteppedWriter(t, api)
		w.Pods(eventJob("a"), eventPodCreated, "Created", c.pods)
		w.write()
		api.want(t, name, c.want...)
	}
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("a-%03d", 499-i))
	}
	w.Pods(eventJob("a"), eventPodDeleted, "Deleted", names[:250])
	w.Pods(eventJob("a"), eventPodDeleted, "Deleted", names[250:])
	w.write()
	api.want(t, "two stages at once", "SuccessfulDelete x1: Deleted 500 pods: a-000, a-001, a-002 and 497 more")
}

// SCL-03: a lane writes ten events at once, then one per minute with all messages added in it; nothing is lost. Other
// lanes are not affected. At the end of the Job, all events are written.
func TestLaneWritesTenEventsThenOneAMinute(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	second := func(i int) {
		w.Pods(eventJob("a"), eventPodCreated, "Created", []string{fmt.Sprintf("a-%04d", i)})
		w.write()
		w.clock.Step(time.Second)
	}
	for i := range 70 {
		second(i)
	}
	w.wake()
	if n := api.made("create"); n != laneBurst+1 || !strings.Contains(strings.Join(api.eventTexts(), "\n"), "Created 51 pods: a-0010, a-0011, a-0012 and 48 more") {
		t.Errorf("%d events:\n%s", n, strings.Join(api.eventTexts(), "\n"))
	}
	w.Pods(eventJob("b"), eventPodCreated, "Created", []string{"b"})
	w.Event(eventJob("a"), corev1.EventTypeNormal, "Suspended", "Job suspended")
	w.write()
	assert.Equal(t, api.made("create"), laneBurst+3, "other lanes wait too")
	w.Finished(eventJob("a"))
	w.write()
	assert.Contains(t, strings.Join(api.eventTexts(), "\n"), "Created 9 pods: a-0061, a-0062, a-0063 and 6 more")
	// After a while without events, the budget is full again.
	w.clock.Step(laneBurst * lanePeriod)
	before := api.made("create")
	for i := range 2 * laneBurst {
		second(100 + i)
	}
	assert.Equal(t, api.made("create")-before, laneBurst, "events after a pause")
}

// The same text again increases the count. Of more different texts than there is room for, the latest are kept.
// Requirements: JOB-47
func TestSameTextIsAHigherCount(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	say := func(text string) { w.Event(eventJob("a"), corev1.EventTypeWarning, "Reason", text) }
	for range 3 {
		say("x")
	}
	w.write()
	say("x")
	say("y")
	say("x")
	w.write()
	api.want(t, "x and y", "Reason x1: y", "Reason x5: x")
	assert.Equalf(t, len(api.calls), 3, "calls: %q", api.calls)
	for i := range 50 {
		say(fmt.Sprint(i))
	}
	w.clock.Step(laneBurst * lanePeriod)
	w.wake()
	if known := api.eventTexts(); len(known) != 2+maxNotes || !slices.Contains(known, "Reason x1: 49") || !slices.Contains(known, "Reason x1: 40") {
		t.Errorf("%q", known)
	}
}

// One event per cause, with the number of its pods, however many causes there are at once; beyond a limit, one event
// for all other causes.
// Requirements: JOB-47
func TestCausesAreCounted(t *testing.T) {
	api := newEventAPI()
	w := newSteppedWriter(t, api)
	for range 1000 {
		w.Failures(eventJob("a"), eventPodFailed, failedFor("A", "a-7"), 1)
	}
	w.Failures(eventJob("a"), eventPodFailed, failedFor("B", "a-8"), 500)
	w.Failures(eventJob("b"), eventPodFailed, failedFor("A", "b-1"), 2)
	w.write()
	api.want(t, "1502 failures", "PodFailed x1000: Pod failed: A. First in pod a-7", "PodFailed x2: Pod failed: A. First in pod b-1", "PodFailed x500: Pod failed: B. First in pod a-8")
	assert.Equal(t, len(api.calls), 3, "calls")
	for i := range 100 {
		w.Failures(eventJob("a"), eventPodFailed, failedFor("A", "a-9"), 1)
		w.Failures(eventJob("a"), eventPodFailed, failedFor(fmt.Sprintf("C%d", i), "a-10"), 2)
	}
	w.write()
	known := api.eventTexts()
	if len(known) != 1+maxCauses+1 || !slices.Contains(known, "PodFailed x1100: Pod failed: A. First in pod a-7") {
		t.Errorf("%d events:\n%s", len(known), strings.Join(known, "\n"))
	}
	if other := fmt.Sprintf("PodFailed x%d: %s One of them: Pod failed: C18. First in pod a-10", 2*(100-18), cause.Others); !slices.Contains(known, other) {
		t.Errorf("not there: %s\n%s", other, strings.Join(known, "\n"))
	}
}
