package cronjob

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plan is the schedule of a CronJob.
type plan struct {
	// schedule is nil if it is unknown.
	schedule cron.Schedule
	// zoneAssumed is set if UTC is assumed, and another time zone would give other times.
	zoneAssumed bool
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
	text := cj.Spec.Schedule
	// The parser may panic on a time zone, and @every counts from a time that only the controller knows.
	if strings.Contains(text, "TZ") || strings.HasPrefix(text, "@every") {
		return plan{}
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return plan{}
	}
	if zone := cj.Spec.TimeZone; zone != nil {
		location, err := time.LoadLocation(*zone)
		if err != nil {
			return plan{}
		}
		return plan{schedule: zoned{schedule, location}}
	}
	return plan{schedule: zoned{schedule, time.UTC}, zoneAssumed: !sameInAllZones(text)}
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
