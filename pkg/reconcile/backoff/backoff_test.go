package backoff

import (
	"testing"
	"time"
)

var policy = Policy{Base: 10 * time.Second, Max: 10 * time.Minute}

func at(seconds int) time.Time { return time.Unix(int64(1_000_000+seconds), 0) }

// JOB-18: with a base of 10 s, n=6 waits 320 s and n=7 reaches the cap.
func TestDelay_JOB_18(t *testing.T) {
	for n, want := range map[int32]time.Duration{
		-1: 0, 0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 6: 320 * time.Second,
		7: 600 * time.Second, 8: 600 * time.Second, 2147483647: 600 * time.Second,
	} {
		if got := policy.Delay(n); got != want {
			t.Errorf("Delay(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestRecordAfter_JOB_18(t *testing.T) {
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
		"first failure":           {Record{}, 0, []failure{{5, true}}, Record{1, at(5)}},
		"latest of three":         {Record{}, 0, []failure{{5, true}, {9, true}, {7, true}}, Record{3, at(9)}},
		"seen again, not fresh":   {Record{1, at(5)}, 0, []failure{{5, false}}, Record{1, at(5)}},
		"one more":                {Record{1, at(5)}, 0, []failure{{5, false}, {8, true}}, Record{2, at(8)}},
		"older pods are gone":     {Record{3, at(5)}, 0, []failure{{8, true}}, Record{4, at(8)}},
		"all pods are gone":       {Record{3, at(5)}, 0, nil, Record{3, at(5)}},
		"restart: pods alone":     {Record{}, 0, []failure{{5, false}, {8, false}}, Record{2, at(8)}},
		"success after all":       {Record{3, at(5)}, 6, []failure{{5, false}}, Record{}},
		"success between":         {Record{3, at(5)}, 6, []failure{{5, false}, {8, true}}, Record{1, at(8)}},
		"same time: JOB-21":       {Record{}, 5, []failure{{5, true}}, Record{}},
		"record as old as JOB-21": {Record{2, at(5)}, 5, nil, Record{}},
		"success before the rest": {Record{2, at(7)}, 5, nil, Record{2, at(7)}},
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

func TestUntil(t *testing.T) {
	if got := (Record{}).Until(policy); !got.IsZero() {
		t.Errorf("no failure: %v", got)
	}
	if got := (Record{2, at(0)}).Until(policy); !got.Equal(at(20)) {
		t.Errorf("two failures: %v", got)
	}
}
