package eta_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen returns a sample taken the given time before noon.
func seen(before time.Duration, done int32) eta.Progress {
	return eta.Progress{Time: noon.Add(-before), Done: done}
}

// Issue 6, point 2: the time left follows from the throughput, and the method is stated.
func TestTimeLeftFollowsThroughput(t *testing.T) {
	hour := noon.Add(-time.Hour)
	known := func(left time.Duration, perMinute float64, method string) eta.ETA {
		return eta.ETA{Remaining: left, PerMinute: perMinute, Method: method, Known: true}
	}
	const mean = "mean"
	for _, tc := range []struct {
		name    string
		samples []eta.Progress
		started time.Time
		total   int32
		want    eta.ETA
	}{
		{"the rate of late", []eta.Progress{seen(4*time.Minute, 10), seen(2*time.Minute, 20), seen(0, 30)}, hour, 60, known(6*time.Minute, 5, "last 4m")},
		{"old samples say nothing of late", []eta.Progress{seen(50*time.Minute, 0), seen(5*time.Minute, 20), seen(0, 30)}, hour, 50, known(10*time.Minute, 2, "last 5m")},
		{"a sample of ten minutes ago counts", []eta.Progress{seen(10*time.Minute, 20), seen(0, 30)}, hour, 50, known(20*time.Minute, 1, "last 10m")},
		{"one that is older does not", []eta.Progress{seen(10*time.Minute+time.Second, 20), seen(0, 30)}, hour, 60, known(time.Hour, 0.5, mean)},
		{"half a minute is enough", []eta.Progress{seen(30*time.Second, 27), seen(0, 30)}, hour, 33, known(30*time.Second, 6, "last 30s")},
		{"less is not", []eta.Progress{seen(29*time.Second, 20), seen(0, 30)}, hour, 60, known(time.Hour, 0.5, mean)},
		{"two successes are not", []eta.Progress{seen(5*time.Minute, 28), seen(0, 30)}, hour, 60, known(time.Hour, 0.5, mean)},
		{"no news is a rate that falls", []eta.Progress{seen(4*time.Minute, 10), seen(3*time.Minute, 30)}, hour, 60, known(6*time.Minute, 5, "last 4m")},
		{"it was scaled down", []eta.Progress{seen(4*time.Minute, 90), seen(2*time.Minute, 20), seen(0, 30)}, hour, 40, known(2*time.Minute, 5, "last 2m")},
		{"a clock that is ahead", []eta.Progress{seen(4*time.Minute, 10), seen(0, 30), seen(-time.Hour, 60)}, hour, 60, known(6*time.Minute, 5, "last 4m")},
		{"another order", []eta.Progress{seen(0, 30), seen(4*time.Minute, 10)}, hour, 60, known(6*time.Minute, 5, "last 4m")},
		{"finished", []eta.Progress{seen(0, 60)}, hour, 60, known(0, 0, "nothing left to do")},
		{"more than asked for", []eta.Progress{seen(0, 61)}, hour, 60, known(0, 0, "nothing left to do")},
		{"nothing was asked for", nil, hour, 0, known(0, 0, "nothing left to do")},
		{"none so far", []eta.Progress{seen(5*time.Minute, 0), seen(0, 0)}, hour, 60, eta.ETA{Method: "nothing has succeeded yet"}},
		{"nothing seen", nil, hour, 60, eta.ETA{Method: "nothing has been observed yet"}},
		{"no start", []eta.Progress{seen(0, 30)}, time.Time{}, 60, eta.ETA{Method: "too few successes to estimate"}},
		{"it starts now", []eta.Progress{seen(0, 30)}, noon, 60, eta.ETA{Method: "just started"}},
		{"a mean of half a minute", []eta.Progress{seen(0, 3)}, noon.Add(-30 * time.Second), 6, known(30*time.Second, 6, mean)},
		{"a mean of less", []eta.Progress{seen(0, 3)}, noon.Add(-29 * time.Second), 6, eta.ETA{Method: "just started"}},
		{"a mean of two", []eta.Progress{seen(0, 2)}, hour, 6, eta.ETA{Method: "too few successes to estimate"}},
		{"resumed, and seen before", []eta.Progress{seen(3*time.Hour, 2), seen(2*time.Hour, 8), seen(0, 68)}, hour, 70, known(2*time.Minute, 1, mean)},
		{"resumed, and too little since", []eta.Progress{seen(2*time.Hour, 8), seen(0, 10)}, hour, 70, eta.ETA{Method: "too few successes to estimate"}},
		{"what was done before is not of late", []eta.Progress{seen(8*time.Minute, 8), seen(0, 11)}, noon.Add(-3 * time.Minute), 13, known(2*time.Minute, 1, "last 3m")},
		{"resumed, and not seen before", []eta.Progress{seen(30*time.Minute, 8), seen(20*time.Minute, 38), seen(0, 38)}, time.Time{}, 40, known(2*time.Minute, 1, mean)},
		{"a work queue", []eta.Progress{seen(0, 30)}, hour, -1, eta.ETA{Method: "the Job does not specify how many successes it needs"}},
		{"for ever", []eta.Progress{seen(0, 3)}, noon.AddDate(-200, 0, 0), math.MaxInt32, known(math.MaxInt64, 180/(noon.Sub(noon.AddDate(-200, 0, 0)).Seconds()), mean)},
	} {
		assert.Equal(t, eta.Estimate(tc.samples, tc.started, tc.total, noon), tc.want, tc.name)
	}
}

func drawSamples(t *rapid.T) []eta.Progress {
	var out []eta.Progress
	for range rapid.IntRange(0, 12).Draw(t, "samples") {
		before := time.Duration(rapid.OneOf(rapid.Int64Range(-60, 900), rapid.Int64Range(math.MinInt64/int64(time.Second), math.MaxInt64/int64(time.Second))).Draw(t, "before"))
		out = append(out, seen(before*time.Second, rapid.OneOf(rapid.Int32Range(0, 100), rapid.Int32()).Draw(t, "done")))
	}
	return out
}

func drawStart(t *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{{}, noon, noon.Add(time.Hour), noon.Add(-time.Second), noon.Add(-time.Hour), noon.AddDate(-5000, 0, 0)}).Draw(t, "started")
}

// For any samples, the answer is a valid and plausible number.
func TestTimeLeftMakesSenseForAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples, started, total := drawSamples(t), drawStart(t), rapid.OneOf(rapid.Int32Range(-1, 200), rapid.Int32()).Draw(t, "total")
		before := slices.Clone(samples)
		got := eta.Estimate(samples, started, total, noon)
		switch {
		case got.Remaining < 0, math.IsNaN(got.PerMinute), math.IsInf(got.PerMinute, 0), got.PerMinute < 0:
			t.Errorf("no number: %+v", got)
		case got.Method == "":
			t.Error("it does not say how it knows")
		case !got.Known && (got.Remaining != 0 || got.PerMinute != 0):
			t.Errorf("nothing is known, and it says %+v", got)
		case got.Known && got.PerMinute == 0 && got.Remaining != 0:
			t.Errorf("time is left, and there is no rate: %+v", got)
		case strings.HasSuffix(got.Method, " 0s"):
			t.Errorf("a rate of no time: %+v", got)
		}
		if !slices.Equal(before, samples) {
			t.Error("the samples have changed")
		}
	})
}

// With the same method, more to do takes longer, and more done takes less.
func TestMoreToDoTakesLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples, started := drawSamples(t), drawStart(t)
		total := rapid.Int32Range(0, math.MaxInt32-1).Draw(t, "total")
		some := eta.Estimate(samples, started, total, noon)
		more := eta.Estimate(samples, started, rapid.Int32Range(total, math.MaxInt32).Draw(t, "more"), noon)
		if some.Known && more.Known && more.Remaining < some.Remaining {
			t.Errorf("%+v, and with more to do %+v", some, more)
		}
		slices.SortStableFunc(samples, func(x, y eta.Progress) int { return x.Time.Compare(y.Time) })
		last := len(samples) - 1
		if last < 0 || samples[last].Time.After(noon) {
			return
		}
		further := slices.Clone(samples)
		further[last].Done = rapid.Int32Range(samples[last].Done, math.MaxInt32).Draw(t, "further")
		if ahead := eta.Estimate(further, started, total, noon); some.Known && ahead.Known && ahead.Method == some.Method && ahead.Remaining > some.Remaining {
			t.Errorf("%+v, and with more done %+v", some, ahead)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	var samples []eta.Progress
	for i := range 300 {
		samples = append(samples, seen(time.Duration(300-i)*2*time.Second, int32(i)))
	}
	for b.Loop() {
		if e := eta.Estimate(samples, noon.Add(-time.Hour), 1000, noon); !e.Known {
			b.Fatal(e)
		}
	}
}
