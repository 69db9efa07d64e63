package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// long returns a Job with n moments.
func long(t *testing.T, n int) *snapshot.Snapshot {
	s := load(t, "running")
	r := s.Job.Report
	r.Timeline = nil
	for i := range n {
		r.Timeline = append(r.Timeline, explain.Moment{
			Time: metav1.NewTime(r.Job.Started.Add(time.Duration(i) * time.Second)), What: "Event", Text: fmt.Sprintf("moment %d.", i), Warning: i%10 == 0,
		})
	}
	return s
}

// more returns the Snapshot that follows s, with n moments.
func more(t *testing.T, s *snapshot.Snapshot, n int) snapshotMsg {
	news := long(t, n)
	news.Seq = s.Seq + 1
	return snapshotMsg{snap: news}
}

// The end stays visible until the user scrolls away from it, and again after the user has returned to it.
func TestTimelineStaysAtItsEnd(t *testing.T) {
	s := long(t, 100)
	b := open(t, s, size{80, 24}, nil, "6")
	shows(b, "Moment 99.")
	b.send(more(t, s, 120))
	shows(b, "Moment 119.")
	b.press("up")
	shows(b, "▼ 1 more", "Moment 118.")
	b.send(more(t, s, 150))
	hides(b, "Moment 149.")
	shows(b, "▼ 31 more", "Moment 118.")
	b.press("G")
	b.send(more(t, s, 160))
	shows(b, "Moment 159.")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	shows(b, "▼ 3 more")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	b.send(more(t, s, 170))
	shows(b, "Moment 169.")
	for _, key := range []string{"k", "pgup", "b", "g", "home"} {
		b.press("G", key)
		shows(b, "▼")
	}
	b.press("g", "down", "j", "pgdown", "f")
	hides(b, "Moment 0.")
	b.press("end")
	hides(b, "▼")
}

// x shows only warnings, / filters, esc clears the filter before it goes back.
func TestTimelineFilters(t *testing.T) {
	b := open(t, long(t, 100), size{80, 24}, nil, "6", "x")
	shows(b, "! warnings only  x shows all", "Moment 90.", "Moment 0.")
	hides(b, "Moment 99.")
	b.press("/")
	b.write("nt 5")
	shows(b, "/nt 5  1 of 100 moments", "Moment 50.")
	b.press("enter", "x")
	shows(b, "19 of 100 moments", "Moment 59.", "esc clear the filter")
	b.press("esc")
	shows(b, "Moment 99.")
	hides(b, "of 100 moments")
	b.press("/")
	b.write("NOTHING like it")
	shows(b, "0 of 100 moments", "Nothing to show.")
	b.press("esc")
	shows(b, "Moment 99.")
}

// Times are aligned, relative to the start or absolute, with a date on other days.
func TestTimesAreAligned(t *testing.T) {
	s := long(t, 3)
	s.Job.Report.Timeline[0].Time = metav1.NewTime(s.Time.Add(-72 * time.Hour))
	s.Job.Report.Timeline[1].Count = 7
	b := open(t, s, size{80, 24}, nil, "6", "r")
	at := func(text string) int {
		for line := range strings.SplitSeq(b.picture(), "\n") {
			if i := strings.Index(line, text); i >= 0 {
				return i
			}
		}
		return -1
	}
	shows(b, s.Time.Add(-72*time.Hour).Format("2006-01-02 15:04:05")+"  ! Event  Moment 0.", "Moment 1. (7×)")
	assert.Equalf(t, at("Moment 0."), at("Moment 2."), "not aligned:\n%s", b.picture())
	b.press("r")
	shows(b, "-2d23h  ! Event  Moment 0.", "+2s       Event  Moment 2.")
	s.Job.Report.Job.Created, s.Job.Report.Job.Started = nil, nil
	shows(open(t, s, size{80, 24}, nil), "Running")
	b = open(t, s, size{80, 24}, nil, "6")
	shows(b, "+0s     ! Event")
}

// Issue 6, 2: events that are shown as a group have the range of their times; if the range would leave too little room for
// the texts, its end follows the text.
func TestGroupedEventsHaveARange(t *testing.T) {
	s := long(t, 3)
	m := &s.Job.Report.Timeline[2]
	created := s.Job.Report.Job.Created
	m.Until = &metav1.Time{Time: created.Add(45 * time.Second)}
	at := &s.Job.Report.Timeline[1]
	at.Until = &metav1.Time{Time: at.Time.Add(time.Millisecond)}
	b := open(t, s, size{80, 24}, nil, "6")
	shows(b, "+1s            Event  Moment 1.", "+2s to +45s    Event  Moment 2.")
	b.press("r")
	clock := func(after time.Duration) string { return created.Add(after).Format("15:04:05") }
	shows(b, clock(2*time.Second)+" to "+clock(45*time.Second)+"    Event")
	b = open(t, s, size{60, 20}, nil, "6", "r")
	shows(b, clock(2*time.Second)+"    Moment 2. (until "+clock(45*time.Second)+")")
}
