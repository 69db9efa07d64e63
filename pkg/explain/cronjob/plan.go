package cronjob

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// plan is the schedule of a CronJob.
type plan struct {
	// schedule is nil if it is unknown.
	schedule cron.Schedule
	// zoneAssumed is set if UTC is assumed, and another time zone would give other times.
	zoneAssumed bool
	// fields are the parsed fields of the schedule, nil for @every; location is nil if no time zone is set.
	fields   *cron.SpecSchedule
	location *time.Location
}

// text describes the schedule, "" if it is unknown.
func (p plan) text() string {
	if interval, is := p.schedule.(every); is {
		return "every " + wording.Duration(interval.delay)
	}
	return words.Schedule(p.fields)
}

// firstAfter returns the first start after t, zero if there is none or it is unknown.
func (p plan) firstAfter(t time.Time) time.Time {
	if p.schedule == nil || t.IsZero() {
		return time.Time{}
	}
	return p.schedule.Next(t)
}

// startsBetween counts the starts from first to end, at most 100.
func (p plan) startsBetween(first, end time.Time) (n int32) {
	for t := first; n < 100 && !t.IsZero() && !t.After(end); t = p.firstAfter(t) {
		n++
	}
	return n
}

// planOf parses the schedule as kube-controller-manager does. Without a timeZone, the schedule is in the time zone of
// kube-controller-manager, usually UTC.
func planOf(cj *batchv1.CronJob) plan {
	text, zone := cj.Spec.Schedule, cj.Spec.TimeZone
	if prefix, rest, found := strings.Cut(text, " "); found && strings.Contains(prefix, "TZ=") { // The parser may panic on a time zone.
		text, zone = rest, ptr.To(prefix[strings.IndexByte(prefix, '=')+1:])
	} else if strings.Contains(text, "TZ") {
		return plan{}
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return plan{}
	}
	fields, isFields := parsed.(*cron.SpecSchedule)
	switch {
	case !isFields:
		return everyPlan(cj, parsed)
	case zone == nil:
		return plan{schedule: zoned{parsed, time.UTC}, fields: fields, zoneAssumed: !sameInAllZones(text)}
	}
	location, err := time.LoadLocation(*zone)
	if err != nil {
		return plan{}
	}
	return plan{schedule: zoned{parsed, location}, fields: fields, location: location}
}

// everyPlan returns the plan of @every, which counts from the last start, or else from the creation. With a
// startingDeadlineSeconds, the controller counts from a time that changes with each sync.
func everyPlan(cj *batchv1.CronJob, parsed cron.Schedule) plan {
	constant, is := parsed.(cron.ConstantDelaySchedule)
	if !is || cj.Spec.StartingDeadlineSeconds != nil {
		return plan{}
	}
	from := timeOf(cj.Status.LastScheduleTime)
	if from.IsZero() {
		from = cj.CreationTimestamp.Time
	}
	return plan{schedule: every{from, constant.Delay}}
}

// every starts at a fixed interval.
type every struct {
	from  time.Time
	delay time.Duration
}

// Next returns the first start after t.
func (e every) Next(t time.Time) time.Time {
	if t.Before(e.from) {
		return e.from.Add(e.delay).UTC()
	}
	return e.from.Add((t.Sub(e.from)/e.delay + 1) * e.delay).UTC()
}

// soon is how long before a change of the clocks it is reported.
const soon = 31 * 24 * time.Hour

// clockChange returns the next change of the clocks if it adds or removes starts; nil otherwise. Starts in every hour follow
// one another as usual.
func (p plan) clockChange(now time.Time) *explain.ClockChange {
	if p.location == nil || p.fields.Hour&everyHour == everyHour {
		return nil
	}
	_, at := now.In(p.location).ZoneBounds()
	if at.IsZero() || at.Sub(now) > soon {
		return nil
	}
	_, before := at.Add(-time.Second).Zone()
	_, after := at.Zone()
	shift := time.Duration(after-before) * time.Second
	// The schedule sees clocks that do not change, at the local times that do not exist, or exist twice.
	local := plan{schedule: zoned{p.fields, time.UTC}}
	clock := at.UTC().Add(time.Duration(before) * time.Second)
	c := &explain.ClockChange{At: metav1.NewTime(at.UTC())}
	if shift > 0 {
		c.Removed = local.startsIn(clock, clock.Add(shift))
	} else {
		clock = clock.Add(shift)
		c.Added = p.startsIn(at.Add(shift), at.Add(-shift)) - local.startsIn(clock, clock.Add(-shift))
	}
	if c.Removed+c.Added <= 0 {
		return nil
	}
	c.Clock = local.firstAfter(clock.Add(-time.Second)).Format("15:04")
	return c
}

// everyHour has the bits of all hours.
const everyHour = 1<<24 - 1

// startsIn counts the starts from first, and before end.
func (p plan) startsIn(first, end time.Time) int32 {
	return p.startsBetween(p.firstAfter(first.Add(-time.Second)), end.Add(-time.Second))
}

// sameInAllZones reports whether the schedule restricts minutes only. Time zones with offsets of half an hour are ignored:
// few clusters have one, and starts would be wrong by minutes.
func sameInAllZones(schedule string) bool {
	fields := strings.Fields(schedule)
	switch {
	case len(fields) == 0:
		return false
	case fields[0] == "@hourly":
		return true
	}
	return len(fields) == 5 && strings.Trim(strings.Join(fields[1:], ""), "*") == ""
}

// zoned is a schedule in a time zone.
type zoned struct {
	cron.Schedule
	location *time.Location
}

// Next returns the first start after t, in UTC; zero if there is none within five years.
func (z zoned) Next(t time.Time) time.Time {
	return z.Schedule.Next(t.In(z.location)).UTC()
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
