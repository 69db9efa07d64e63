package live

import (
	"time"
)

const (
	// snapshotPause is the minimum interval between two Snapshots: at most ten a second.
	snapshotPause = 100 * time.Millisecond
	// clockInterval is the interval of Snapshots while the view shows the passing of time, and idleInterval otherwise.
	clockInterval = time.Second
	idleInterval  = 30 * time.Second
	// busyDuty and idleDuty are the length of the pause after a report, in multiples of the time that the report took: after
	// a change, and if only time has passed.
	busyDuty = 8
	idleDuty = 20
)

// pace decides when to make Snapshots. It reads no clock.
type pace struct {
	made     time.Time     // when the last Snapshot was made; zero for none
	reported time.Time     // when the last report was complete
	took     time.Duration // how long the last report took
}

// need describes what has to be made.
type need struct {
	view  bool // something outside the report has changed
	first bool // a Job has no report yet, and all data for one is available
	facts bool // the data of the report has changed
	clock bool // the report depends on time
	ticks bool // something else in the view depends on time
}

// due returns the time of the next Snapshot.
func (p pace) due(n need) time.Time {
	if p.made.IsZero() {
		return time.Time{}
	}
	soonest := p.made.Add(snapshotPause)
	at := p.made.Add(idleInterval)
	if n.ticks {
		at = p.made.Add(clockInterval)
	}
	if n.view {
		at = soonest
	}
	if report, needed := p.report(n); needed && report.Before(at) {
		at = report
	}
	if at.Before(soonest) {
		return soonest
	}
	return at
}

// report returns the time of the next report; needed is false if none is needed.
func (p pace) report(n need) (at time.Time, needed bool) {
	switch {
	case n.first:
		return time.Time{}, true
	case n.facts:
		return p.reported.Add(busyDuty * p.took), true
	case n.clock:
		// A report shows whole seconds; none of them is skipped.
		return p.reported.Truncate(time.Second).Add(max(clockInterval, idleDuty*p.took)), true
	}
	return time.Time{}, false
}
