//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// logged returns an entry of the audit log, with times in ms.
func logged(verb, resource string, begun, ended int) string {
	resource, subresource, _ := strings.Cut(resource, "/")
	at := func(ms int) string {
		return noon.Add(time.Duration(ms) * time.Millisecond).Format("2006-01-02T15:04:05.000000Z")
	}
	return fmt.Sprintf(`{"kind":"Event","stage":"ResponseComplete","verb":%q,"objectRef":{"resource":%q,"subresource":%q},"responseStatus":{"code":200},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n",
		verb, resource, subresource, at(begun), at(ended))
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func mustParseCalls(t *testing.T, log string) []loggedCall {
	t.Helper()
	calls, err := parseCalls(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestAuditLogIsReadInTheOrderOfArrival(t *testing.T) {
	log := logged("create", "pods", 20, 30) + logged("update", "jobs/status", 10, 40) + logged("get", "pods", 1, 2) + logged("patch", "pods", 5, 50)
	var kinds []callKind
	for _, c := range mustParseCalls(t, log+`{"verb":"create","objec`) {
		kinds = append(kinds, c.kind)
	}
	if want := []callKind{callStrip, callStatus, callCreate}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
	if _, err := parseCalls(strings.NewReader("no JSON\n")); err == nil {
		t.Error("no error about a log that is not JSON")
	}
}

func sampleTimeline(t *testing.T, s side) timeline {
	t.Helper()
	log := logged("create", "pods", 0, 5) + // before the Job
		logged("create", "jobs", 1000, 1010) + logged("create", "pods", 1100, 1300) + logged("create", "pods", 1200, 1300) +
		logged("patch", "pods", 1500, 1700) + logged("update", "jobs/status", 1800, 2000) +
		logged("delete", "jobs", 2500, 2510) + logged("delete", "pods", 2600, 2610)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	line, err := newTimeline(s, 2, mustParseCalls(t, log), []arrival{{at(500), podDeleted}, {at(1310), podCreated}, {at(1400), podEnded}, {at(2600), podDeleted}})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestTimelineHasWhatHappensBetweenCreationAndDeletion(t *testing.T) {
	line := sampleTimeline(t, ours)
	if len(line.Calls) != 4 || line.Seconds != 1 || len(line.Events) != 2 {
		t.Errorf("%d calls until %v s, %d events", len(line.Calls), line.Seconds, len(line.Events))
	}
	if before, after := line.done(callCreate, 0.29), line.done(callCreate, 0.31); before != 0 || after != 2 {
		t.Errorf("%d creations are done, then %d", before, after)
	}
	if got := line.seen(podEnded, 0.5); got != 1 {
		t.Errorf("%d pods ended", got)
	}
	// From 0.1 s to 0.3 s: one call all the time, one for half of it.
	if got := line.inFlight(callCreate, 0.1, 0.3); got < 1.499 || got > 1.501 {
		t.Errorf("%v creations in flight", got)
	}
	if _, err := newTimeline(ours, 2, nil, nil); err == nil {
		t.Error("no error about a log without the Job")
	}
}

func TestPictureOfTimelinesIsXML(t *testing.T) {
	picture := plotTimelines([]timeline{sampleTimeline(t, ours), sampleTimeline(t, builtIn), sampleTimeline(t, floor)})
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"batchjob controller: done, 1.00 s", "built-in controller", "bare client", "status writes"} {
		if !bytes.Contains(picture, []byte(words)) {
			t.Errorf("the picture lacks %q", words)
		}
	}
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for highest, want := range map[float64][]float64{
		1: {0, 0.5, 1}, 9.2: {0, 2, 4, 6, 8}, 1000: {0, 500, 1000}, 32: {0, 10, 20, 30}, 0.3: {0, 0.1, 0.2, 0.3},
	} {
		if got := ticks(highest); !slices.Equal(got, want) {
			t.Errorf("up to %v: got %v, want %v", highest, got, want)
		}
	}
}
