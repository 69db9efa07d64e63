// Package eta estimates the completion time of a Job from its past rate of successes.
package eta

import (
	"math"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Progress is the number of successes at a moment: indexes of an Indexed Job, pods of a NonIndexed Job.
type Progress struct {
	Time time.Time
	Done int32
}

// ETA is an estimate of the time until a Job is complete, from its past rate.
type ETA struct {
	// Remaining is the time left, 0 if nothing is left to do or if Known is false. It is at most the longest Duration, 292
	// years.
	Remaining time.Duration
	// PerMinute is the rate behind Remaining, 0 if Known is false.
	PerMinute float64
	// Method names the source of the rate ("mean", "last 4m"), or explains in a few words why there is no rate.
	Method string
	// Known reports whether Remaining is valid.
	Known bool
}

const (
	// rateWindow is the maximum age of samples for a recent rate.
	rateWindow = 10 * time.Minute
	// MinSpan is the minimum time span of a rate, and minDone its minimum number of successes: with less, a rate is chance.
	MinSpan = 30 * time.Second
	minDone = 3
)

// JustStarted is the Method for a Job that started less than MinSpan ago.
const JustStarted = "just started"

// Estimate returns the ETA of total successes. The samples are observations, oldest first, taken at least at each change: a
// pause in the samples means that nothing happened. Samples after now are ignored. total is negative for a Job without such a
// number (a work queue).
//
// started is the Job's startTime. The number of successes at that time is 0, unless an earlier sample has a number, as for a
// Job that was resumed. started is zero if that number is unknown; then only the samples count.
//
// If the count decreased, the Job was changed: earlier samples do not count for the recent rate.
func Estimate(samples []Progress, started time.Time, total int32, now time.Time) ETA {
	samples = slices.Clone(samples)
	if later := func(x, y Progress) int { return x.Time.Compare(y.Time) }; !slices.IsSortedFunc(samples, later) {
		slices.SortStableFunc(samples, later)
	}
	for len(samples) > 0 && samples[len(samples)-1].Time.After(now) {
		samples = samples[:len(samples)-1]
	}
	if !started.IsZero() {
		// Of the samples before the start, only the last counts, as the number at the start.
		for len(samples) > 1 && !samples[1].Time.After(started) {
			samples = samples[1:]
		}
		if len(samples) > 0 && !samples[0].Time.After(started) {
			samples[0].Time = started
		}
	}
	if total < 0 {
		return ETA{Method: "the Job does not specify how many successes it needs"}
	}
	if len(samples) == 0 && total > 0 {
		return ETA{Method: "nothing has been observed yet"}
	}
	done := int32(0)
	if len(samples) > 0 {
		done = max(samples[len(samples)-1].Done, 0)
	}
	if done >= total {
		return ETA{Known: true, Method: "nothing left to do"}
	}
	perSecond, method := recentRate(samples, now)
	if perSecond == 0 {
		perSecond, method = meanRate(samples, started, now)
	}
	if perSecond == 0 {
		return ETA{Method: method}
	}
	remaining := time.Duration(math.MaxInt64)
	left := float64(int64(total)-int64(done)) / perSecond * float64(time.Second)
	if left < math.MaxInt64 { // As a float64, MaxInt64 is rounded up by one.
		remaining = time.Duration(left)
	}
	return ETA{Known: true, Remaining: remaining, PerMinute: perSecond * 60, Method: method}
}

// recentRate returns the recent number of successes per second, 0 if it is unknown. samples must not be empty.
func recentRate(samples []Progress, now time.Time) (perSecond float64, method string) {
	first := len(samples) - 1
	for first > 0 && samples[first-1].Done <= samples[first].Done && now.Sub(samples[first-1].Time) <= rateWindow {
		first--
	}
	span := now.Sub(samples[first].Time)
	done := int64(samples[len(samples)-1].Done) - int64(max(samples[first].Done, 0))
	if span < MinSpan || span > rateWindow || done < minDone {
		return 0, ""
	}
	return float64(done) / span.Seconds(), "last " + wording.Duration(span)
}

// meanRate returns the number of successes per second since the start, or since the first sample if the number at the start
// is unknown; 0 if the rate is unknown. samples must not be empty.
func meanRate(samples []Progress, started, now time.Time) (perSecond float64, method string) {
	first, last := samples[0], samples[len(samples)-1]
	from, before := started, int64(0)
	if started.IsZero() || first.Time.Equal(started) {
		from, before = first.Time, int64(max(first.Done, 0))
	}
	done, span := int64(last.Done)-before, now.Sub(from)
	switch {
	case last.Done <= 0:
		return 0, "nothing has succeeded yet"
	case !started.IsZero() && span < MinSpan:
		return 0, JustStarted
	case done < minDone || span < MinSpan:
		return 0, "too few successes to estimate"
	}
	return float64(done) / span.Seconds(), "mean"
}
