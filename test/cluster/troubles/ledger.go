package troubles

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// afterShock is how long the consequences of a trouble may last: watches and Leases have to be resumed.
const afterShock = 15 * time.Second

// Ledger counts how often each trouble occurred, how long it lasted, and how often it had an effect.
type Ledger struct {
	now func() time.Time

	mu      sync.Mutex
	rows    map[string]*row
	current *entry
	outages []span
}

type row struct {
	times, felt int
	lasted      time.Duration
}

// entry is a trouble that has begun.
type entry struct {
	trouble Trouble
	began   time.Time
}

type span struct{ from, to time.Time }

// NewLedger returns an empty Ledger.
func NewLedger(now func() time.Time) *Ledger {
	return &Ledger{now: now, rows: map[string]*row{}}
}

// Begin records the start of a trouble. Only one trouble may last at a time.
func (l *Ledger) Begin(t Trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = &entry{t, l.now()}
}

// End records the end of the trouble, and how often it had an effect.
func (l *Ledger) End(felt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, e := l.now(), l.current
	l.current = nil
	r := l.rows[e.trouble.Name]
	if r == nil {
		r = &row{}
		l.rows[e.trouble.Name] = r
	}
	r.times, r.felt, r.lasted = r.times+1, r.felt+felt, r.lasted+now.Sub(e.began)
	if e.trouble.Outage {
		l.outages = append(l.outages, span{e.began, now.Add(afterShock)})
	}
}

// Calm reports whether calls should succeed now.
func (l *Ledger) Calm() bool { return !l.Disturbed(l.now()) }

// Disturbed reports whether calls may have failed at a time because of an outage.
func (l *Ledger) Disturbed(at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.current; e != nil && e.trouble.Outage && !at.Before(e.began) {
		return true
	}
	return slices.ContainsFunc(l.outages, func(o span) bool { return !at.Before(o.from) && !at.After(o.to) })
}

// Unfelt returns the names of the troubles that had no effect or never occurred.
func (l *Ledger) Unfelt(troubles []Trouble) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range troubles {
		if r := l.rows[t.Name]; r == nil || r.felt == 0 {
			names = append(names, t.Name)
		}
	}
	return names
}

// String returns a line for each trouble.
func (l *Ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.rows)) {
		r := l.rows[name]
		fmt.Fprintf(&b, "  %-20s %3d times, %v in all, felt %d times\n", name, r.times, r.lasted.Round(time.Second), r.felt)
	}
	return b.String()
}
