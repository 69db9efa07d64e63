package backoff

import (
	"testing"
	"time"
)

var policy = Policy{Base: 10 * time.Second, Max: 10 * time.Minute}

func at(seconds int) time.Time { return time.Unix(int64(1_000_000+seconds), 0) }

// JOB-18: with a base of 10 s, n=6 waits 320 s and n=7 reaches the cap.
func TestDelayDoublesUpToTheMaximum_JOB_18(t *testing.T) {
	for n, want := range map[int32]time.Duration{
		-1: 0, 0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 6: 320 * time.Second,
		7: 600 * time.Second, 8: 600 * time.Second, 2147483647: 600 * time.Second,
	} {
		if got := policy.Delay(n); got != want {
			t.Errorf("Delay(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestSuccessEndsARowOfFailures_JOB_18(t *testing.T) {
	type failure struct {
		at    int
		fresh bool
	}
	for name, c := range map[string]struct {
		before   Record
		success  int // 0: none
		failures []failure
		want     Record
	}{
		"nothing happened":        {Record{}, 0, nil, Record{}},
		"first failure":           {Record{}, 0, []failure{{5, true}}, Record{Failures: 1, LastFailure: at(5)}},
		"latest of three":         {Record{}, 0, []failure{{5, true}, {9, true}, {7, true}}, Record{Failures: 3, LastFailure: at(9)}},
		"seen again, not fresh":   {Record{Failures: 1, LastFailure: at(5)}, 0, []failure{{5, false}}, Record{Failures: 1, LastFailure: at(5)}},
		"a later one, not fresh":  {Record{Failures: 1, LastFailure: at(5)}, 0, []failure{{8, false}}, Record{Failures: 1, LastFailure: at(8)}},
		"one more":                {Record{Failures: 1, LastFailure: at(5)}, 0, []failure{{5, false}, {8, true}}, Record{Failures: 2, LastFailure: at(8)}},
		"older pods are gone":     {Record{Failures: 3, LastFailure: at(5)}, 0, []failure{{8, true}}, Record{Failures: 4, LastFailure: at(8)}},
		"all pods are gone":       {Record{Failures: 3, LastFailure: at(5)}, 0, nil, Record{Failures: 3, LastFailure: at(5)}},
		"restart: pods alone":     {Record{}, 0, []failure{{5, false}, {8, false}}, Record{Failures: 2, LastFailure: at(8)}},
		"success after all":       {Record{Failures: 3, LastFailure: at(5)}, 6, []failure{{5, false}}, Record{}},
		"success between":         {Record{Failures: 3, LastFailure: at(5)}, 6, []failure{{5, false}, {8, true}}, Record{Failures: 1, LastFailure: at(8)}},
		"same time: JOB-21":       {Record{}, 5, []failure{{5, true}}, Record{}},
		"record as old as JOB-21": {Record{Failures: 2, LastFailure: at(5)}, 5, nil, Record{}},
		"success before the rest": {Record{Failures: 2, LastFailure: at(7)}, 5, nil, Record{Failures: 2, LastFailure: at(7)}},
	} {
		var h History
		if c.success != 0 {
			h.Success(at(c.success))
		}
		for _, f := range c.failures {
			h.Failure(at(f.at), f.fresh)
		}
		got := c.before.After(h)
		if got.Failures != c.want.Failures || !got.LastFailure.Equal(c.want.LastFailure) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// JOB-18: what is after the last success counts, though its pod is cleaned up, or seen late.
func TestSuccessIsRemembered_JOB_18(t *testing.T) {
	var old History
	for i := range 5 {
		old.Failure(at(i), true)
	}
	old.Success(at(50))
	r := Record{}.After(old)
	var cleaned History // The five failed pods are still there, the succeeded one is not.
	for i := range 5 {
		cleaned.Failure(at(i), false)
	}
	cleaned.Failure(at(60), true)
	if r = r.After(cleaned); r.Failures != 1 || !r.LastFailure.Equal(at(60)) {
		t.Errorf("after the succeeded pod was cleaned up: %+v", r)
	}

	var five History
	for _, s := range []int{10, 20, 40, 80, 100} {
		five.Failure(at(s), true)
	}
	var late History // Only the success is seen, and it was before the last failure.
	late.Success(at(90))
	if r := (Record{}).After(five).After(late); r.Failures != 1 || !r.LastFailure.Equal(at(100)) {
		t.Errorf("after a success that was seen late: %+v", r)
	}
}

// JOB-18: of more failures than are remembered one by one, the latest are.
func TestLatestFailuresAreRemembered_JOB_18(t *testing.T) {
	var h History
	for i := range 1000 {
		h.Failure(at((i*7)%1000), true)
	}
	r := Record{}.After(h)
	if r.Failures != 1000 || len(r.times) != maxTimes || !r.times[0].Equal(at(1000-maxTimes)) {
		t.Errorf("%d failures, times from %v", r.Failures, r.times[0])
	}
	for success, want := range map[int]int32{980: 1000, 990: 9, 999: 0} {
		var late History
		late.Success(at(success))
		if got := r.After(late).Failures; got != want {
			t.Errorf("after a success at %d: %d failures, want %d", success, got, want)
		}
	}
	before := r.Failed(at(2000))
	if r.Failures != 1000 || before.Failures != 1001 || !r.LastFailure.Equal(at(999)) {
		t.Error("a Record was changed in place")
	}
}

// JOB-18: a failure that another process counted is not forgotten with a success before it.
func TestFailureOfAnotherProcessOutlivesASuccessBeforeIt_JOB_18(t *testing.T) {
	var seen, after History
	seen.Failure(at(5), false)
	seen.Failure(at(8), false)
	r := Record{}.Failed(at(4), at(5)).After(seen)
	after.Success(at(6))
	if got := r.After(after); got.Failures != 1 || !got.LastFailure.Equal(at(8)) {
		t.Errorf("%+v", got)
	}
}

func TestUntil(t *testing.T) {
	if got := (Record{}).Until(policy); !got.IsZero() {
		t.Errorf("no failure: %v", got)
	}
	if got := (Record{Failures: 2, LastFailure: at(0)}).Until(policy); !got.Equal(at(20)) {
		t.Errorf("two failures: %v", got)
	}
}
