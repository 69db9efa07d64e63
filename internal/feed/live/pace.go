package live

import (
	"time"
)

const (
	// snapshotSoonest is between two Snapshots at least: ten a second.
	snapshotSoonest = 100 * time.Millisecond
	// clockBeat is how often there is a Snapshot because time passes, and idleBeat how often where nothing shows that.
	clockBeat = time.Second
	idleBeat  = 30 * time.Second
	// busyDuty and idleDuty are how many times longer than a report took the pause after it is: after a change, and
	// when only time passes.
	busyDuty = 8
	idleDuty = 20
)

// pace is when Snapshots are made. It knows no clock.
type pace struct {
	made     time.Time     // when the last Snapshot was made; zero for none
	reported time.Time     // when the last report was ready
	took     time.Duration // what that took
}

// need is what there is to be made.
type need struct {
	view  bool // something beside the report has changed
	first bool // there is a Job without a report, and all that one needs
	facts bool // what the report rests on has changed
	clock bool // the report depends on time
	beats bool // something else that is shown depends on time
}

// due is when to make the next Snapshot.
func (p pace) due(n need) time.Time {
	if p.made.IsZero() {
		return time.Time{}
	}
	soonest := p.made.Add(snapshotSoonest)
	at := p.made.Add(idleBeat)
	if n.beats {
		at = p.made.Add(clockBeat)
	}
	if n.view {
		at = soonest
	}
	if report, ever := p.report(n); ever && report.Before(at) {
		at = report
	}
	if at.Before(soonest) {
		return soonest
	}
	return at
}

// report is when to make the next report; ever is false if there is no need for one.
func (p pace) report(n need) (at time.Time, ever bool) {
	switch {
	case n.first:
		return time.Time{}, true
	case n.facts:
		return p.reported.Add(busyDuty * p.took), true
	case n.clock:
		// A report is of a whole second: none is skipped.
		return p.reported.Truncate(time.Second).Add(max(clockBeat, idleDuty*p.took)), true
	}
	return time.Time{}, false
}
