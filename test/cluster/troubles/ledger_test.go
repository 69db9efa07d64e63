package troubles

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The ledger has a line for each kind of trouble and lists the troubles without effect (SOK-04).
func TestLedgerCounts(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := NewLedger(func() time.Time { return now })
	outage, join := Trouble{Name: "outage", Outage: true}, Trouble{Name: "join"}
	for _, felt := range []int{1, 2} {
		l.Begin(outage)
		now = now.Add(4 * time.Second)
		l.End(felt)
	}
	l.Begin(join)
	l.End(0)
	want := "  join                   1 times, 0s in all, felt 0 times\n  outage                 2 times, 8s in all, felt 3 times\n"
	assert.Equal(t, l.String(), want)
	assert.SlicesEqual(t, l.Unfelt([]Trouble{outage, join, {Name: "never"}}), []string{"join", "never"}, "unfelt")
}

// Errors are excused only during an outage and for a short while after it.
// Requirements: SOK-01
func TestOnlyOutagesExcuseErrors(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1000, 0)
	now := begin
	l := NewLedger(func() time.Time { return now })
	calm := func() string {
		text := ""
		for _, s := range []int{-1, 0, 9, 10, 20, 25, 26} {
			text += fmt.Sprintf("%d:%t ", s, !l.Disturbed(begin.Add(time.Duration(s)*time.Second)))
		}
		return strings.TrimSpace(text)
	}
	l.Begin(Trouble{Name: "join"})
	now = begin.Add(10 * time.Second)
	if !l.Calm() {
		t.Error("a replica that joins excuses nothing")
	}
	l.End(1)
	if got, want := calm(), "-1:true 0:true 9:true 10:true 20:true 25:true 26:true"; got != want {
		t.Errorf("after a harmless one: %s", got)
	}
	now = begin
	l.Begin(Trouble{Name: "outage", Outage: true})
	now = begin.Add(10 * time.Second)
	if l.Calm() {
		t.Error("an outage lasts, and no error is excused")
	}
	l.End(1)
	if got, want := calm(), "-1:true 0:false 9:false 10:false 20:false 25:false 26:true"; got != want {
		t.Errorf("after an outage: %s, want %s", got, want)
	}
}
