package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Issue 6: events about unknown pods are kept for earlyFor, and only the latest maxEarlyEvents of them.
func TestEarlyEventsAreBounded(t *testing.T) {
	events := &newRelated().events[1]
	now := testNow()
	mine := func(string) bool { return true }
	var all []earlyEvent
	for i := range 3 * maxEarlyEvents {
		last := now.Add(time.Duration(i) * time.Second)
		all = append(all, earlyEvent{name: fmt.Sprint("old-", i), event: input.Event{Pod: fmt.Sprint("pod-", i), Last: last}})
	}
	slices.Reverse(all)
	events.replaceEarly(now, all)
	for i := range 2 * maxEarlyEvents {
		events.addEarly(now.Add(earlyFor), fmt.Sprint("new-", i), input.Event{Pod: fmt.Sprint("pod-", i)})
		if len(events.early) > maxEarlyEvents || i == 0 && events.early[0].name != fmt.Sprint("old-", 2*maxEarlyEvents+1) {
			t.Fatalf("%d are kept, first %s", len(events.early), events.early[0].name)
		}
	}
	events.addEarly(now.Add(earlyFor), fmt.Sprint("new-", 2*maxEarlyEvents-1), input.Event{Pod: "again"})
	events.removeEarly(fmt.Sprint("new-", 2*maxEarlyEvents-2))
	if last := events.early[len(events.early)-1]; len(events.early) != maxEarlyEvents-1 || last.event.Pod != "again" {
		t.Errorf("%d are kept, last %+v", len(events.early), last)
	}
	events.matchEarly(now.Add(earlyFor), func(pod string) bool { return pod == "again" })
	if got := events.rows.names; len(got) != 1 || got[0] != fmt.Sprint("new-", 2*maxEarlyEvents-1) || len(events.early) != maxEarlyEvents-2 {
		t.Errorf("taken over: %q, %d are left", got, len(events.early))
	}
	events.matchEarly(now.Add(2*earlyFor+1), mine)
	if len(events.rows.rows) != 1 || len(events.early) != 0 {
		t.Errorf("%d are taken over, %d are left, after their time", len(events.rows.rows), len(events.early))
	}
}
