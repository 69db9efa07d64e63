package eta

import (
	"math"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
)

// Progress is how much had succeeded at a moment: indexes of an Indexed Job, pods of any
// other.
type Progress struct {
	Time time.Time
	Done int32
}

// ETA is when a Job may be through, judged by how fast it was.
type ETA struct {
	// Remaining is the time left, 0 if nothing is left to do or if Known is false. At most
	// it is the longest Duration, of 292 years.
	Remaining time.Duration
	// PerMinute is the rate behind Remaining, 0 if Known is false.
	PerMinute float64
	// Method says where the rate is from ("mean", "last 4m"), or why there is none, in a few
	// words.
	Method string
	// Known reports whether Remaining means something.
	Known bool
}

const (
	// rateWindow is how old the samples may be that a recent rate is computed from.
	rateWindow = 10 * time.Minute
	// MinSpan and minDone are how long, and of how many successes, a rate has to be: less is
	// chance.
	MinSpan = 30 * time.Second
	minDone = 3
)

// JustStarted is the Method of a Job that has not run for long enough: there is an ETA after MinSpan.
const JustStarted = "just started"

// Estimate says when total is reached. The samples are what was seen, the oldest first,
// taken at each change or more often: no sample for a while means that nothing happened.
// Those after now are left out. total is negative for a Job that has no such number (a work
// queue).
//
// started is the Job's startTime: nothing had succeeded then, unless a sample from before
// says how much had, as of a Job that was resumed. It is zero if nobody knows how much was
// done by then; only what was seen counts in that case.
//
// A Job whose count went back was changed: what came before says nothing about recent progress.
func Estimate(samples []Progress, started time.Time, total int32, now time.Time) ETA {
	samples = sinceStart(until(samples, now), started)
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
	left := float64(int64(total) - int64(done))
	return ETA{Known: true, Remaining: inSeconds(left / perSecond), PerMinute: perSecond * 60, Method: method}
}

// until are the samples up to now, in the order of time.
func until(samples []Progress, now time.Time) []Progress {
	later := func(x, y Progress) int { return x.Time.Compare(y.Time) }
	if !slices.IsSortedFunc(samples, later) {
		samples = slices.Clone(samples)
		slices.SortStableFunc(samples, later)
	}
	end := len(samples)
	for end > 0 && samples[end-1].Time.After(now) {
		end--
	}
	return samples[:end]
}

// recentRate is how much has been done per second recently, 0 if that is not known.
func recentRate(samples []Progress, now time.Time) (perSecond float64, method string) {
	if len(samples) == 0 {
		return 0, ""
	}
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

// sinceStart leaves out what was seen before the start, but for how much was done by then.
func sinceStart(samples []Progress, started time.Time) []Progress {
	first := -1
	for first+1 < len(samples) && !samples[first+1].Time.After(started) {
		first++
	}
	if first < 0 || started.IsZero() {
		return samples
	}
	kept := slices.Clone(samples[first:])
	kept[0].Time = started
	return kept
}

// meanRate is how much was done in a second since the start, or since the first sample if
// nobody knows how much was done by then; 0 if that is not known. There are samples.
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

// inSeconds is so many seconds, or the longest Duration if they are more.
func inSeconds(seconds float64) time.Duration {
	ns := seconds * float64(time.Second)
	if ns >= math.MaxInt64 { // As a float64 that is one more than fits.
		return math.MaxInt64
	}
	return time.Duration(ns)
}
