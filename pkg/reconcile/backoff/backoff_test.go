package backoff

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var policy = Policy{Base: 10 * time.Second, Max: 10 * time.Minute}

func at(seconds int) time.Time { return time.Unix(int64(1_000_000+seconds), 0) }

// JOB-18: with a base of 10 s, n=6 waits 320 s and n=7 reaches the cap.
func TestDelayDoublesUpToTheMaximum(t *testing.T) {
	for n, want := range map[int32]time.Duration{
		-1: 0, 0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 6: 320 * time.Second,
		7: 600 * time.Second, 8: 600 * time.Second, 2147483647: 600 * time.Second,
	} {
		assert.Equalf(t, policy.Delay(n), want, "Delay(%d)", n)
	}
}

// failed returns failures of pods that are named after their finish times.
func failed(seconds ...int) (list []Failure) {
	for _, s := range seconds {
		list = append(list, Failure{types.UID(fmt.Sprint(s)), at(s)})
	}
	return list
}

func shows(success int, failures ...int) (h History) {
	if success != 0 {
		h.Success(at(success))
	}
	for _, f := range failed(failures...) {
		h.Failure(f.Pod, f.At)
	}
	return h
}

func remembers(failures ...int) Record { return Record{}.Failed(failed(failures...)...) }

// Requirements: JOB-18
func TestSuccessEndsARowOfFailures(t *testing.T) {
	for name, c := range map[string]struct {
		before   Record
		success  int // 0: none
		failures []int
		want     Record
	}{
		"nothing happened":        {Record{}, 0, nil, Record{}},
		"first failure":           {Record{}, 0, []int{5}, Record{Failures: 1, LastFailure: at(5)}},
		"latest of three":         {Record{}, 0, []int{5, 9, 7}, Record{Failures: 3, LastFailure: at(9)}},
		"seen again":              {remembers(5), 0, []int{5}, Record{Failures: 1, LastFailure: at(5)}},
		"one more":                {remembers(5), 0, []int{5, 8}, Record{Failures: 2, LastFailure: at(8)}},
		"older pods are gone":     {remembers(1, 3, 5), 0, []int{8}, Record{Failures: 4, LastFailure: at(8)}},
		"all pods are gone":       {remembers(1, 3, 5), 0, nil, Record{Failures: 3, LastFailure: at(5)}},
		"restart: pods alone":     {Record{}, 0, []int{5, 8}, Record{Failures: 2, LastFailure: at(8)}},
		"restart, one is gone":    {remembers(8), 0, []int{5}, Record{Failures: 2, LastFailure: at(8)}},
		"success after all":       {remembers(1, 3, 5), 6, []int{5}, Record{}},
		"success between":         {remembers(1, 3, 5), 6, []int{5, 8}, Record{Failures: 1, LastFailure: at(8)}},
		"same time: JOB-21":       {Record{}, 5, []int{5}, Record{}},
		"record as old as JOB-21": {remembers(4, 5), 5, nil, Record{}},
		"success before the rest": {remembers(6, 7), 5, nil, Record{Failures: 2, LastFailure: at(7)}},
		"success amid the rest":   {remembers(4, 5), 4, []int{8}, Record{Failures: 2, LastFailure: at(8)}},
	} {
		got := c.before.After(shows(c.success, c.failures...))
		if got.Failures != c.want.Failures || !got.LastFailure.Equal(c.want.LastFailure) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// JOB-18: a failure after the last success counts, even if its pod was removed, or is seen late.
func TestSuccessIsRemembered(t *testing.T) {
	r := Record{}.After(shows(50, 0, 1, 2, 3, 4))
	// The five failed pods still exist, the succeeded one does not.
	if r = r.After(shows(0, 0, 1, 2, 3, 4, 60)); r.Failures != 1 || !r.LastFailure.Equal(at(60)) {
		t.Errorf("after the succeeded pod was cleaned up: %+v", r)
	}
	// Only the success is seen, and it came before the last failure.
	if r := remembers(10, 20, 40, 80, 100).After(shows(90)); r.Failures != 1 || !r.LastFailure.Equal(at(100)) {
		t.Errorf("after a success that was seen late: %+v", r)
	}
}

// JOB-18: of more failures than the record holds, the latest are kept.
func TestLatestFailuresAreRemembered(t *testing.T) {
	var h History
	for i := range 1000 {
		h.Failure(types.UID(fmt.Sprint(i)), at((i*7)%1000))
	}
	r := Record{}.After(h)
	if r.Failures != 1000 || len(r.pods) != maxPods || !r.pods[0].At.Equal(at(1000-maxPods)) {
		t.Errorf("%d failures, times from %v", r.Failures, r.pods[0])
	}
	for success, want := range map[int]int32{980: 1000, 990: 9, 999: 0} {
		assert.Equalf(t, r.After(shows(success)).Failures, want, "failures after a success at %d", success)
	}
	before := r.Failed(failed(2000)...)
	if r.Failures != 1000 || before.Failures != 1001 || !r.LastFailure.Equal(at(999)) {
		t.Error("a Record was changed in place")
	}
	assert.Equal(t, before.After(shows(0, 1, 2, 3)).Failures, 1001, "failures after old ones that may have been counted")
}

// JOB-18: the wait starts at the finish time of a pod, as last observed.
func TestPodThatFinishedLaterCountsOnce(t *testing.T) {
	r := remembers(4, 5, 6).Failed(Failure{"5", at(9)})
	if r.Failures != 3 || !r.LastFailure.Equal(at(9)) {
		t.Errorf("%+v", r)
	}
	if r = r.Failed(Failure{"5", at(5)}).After(shows(7)); r.Failures != 1 {
		t.Errorf("after a success between both times: %+v", r)
	}
}

// JOB-18: a failure that another process counted is not forgotten with a success before it.
func TestFailureOfAnotherProcessOutlivesASuccessBeforeIt(t *testing.T) {
	if got := remembers(4, 5).After(shows(0, 5, 8)).After(shows(6)); got.Failures != 1 || !got.LastFailure.Equal(at(8)) {
		t.Errorf("%+v", got)
	}
}

// JOB-18: whatever a process sees, in parts and in any order, each failure since the last success counts once, and all
// failures seen count, as long as they fit in the record.
func TestEachFailureCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other, all, success := Record{}, Record{}, map[int]bool{}, 0
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			seen := rapid.SliceOfDistinct(rapid.IntRange(1, maxPods), rapid.ID[int]).Draw(t, "failures")
			ended := rapid.SampledFrom([]int{0, 0, 0, 3, 9}).Draw(t, "success")
			for _, s := range seen {
				all[s] = true
			}
			success = max(success, ended)
			r := &one
			if rapid.Bool().Draw(t, "other") {
				r = &other
			}
			*r = r.After(shows(ended, seen...))
		}
		want := 0
		for s := range all {
			if s > success {
				want++
			}
		}
		if a, b := one.Merge(other), other.Merge(one); int(a.Failures) != want || !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v and %+v, want %d failures", a, b, want)
		}
	})
}

func TestUntil(t *testing.T) {
	if got := (Record{}).Until(policy); !got.IsZero() {
		t.Errorf("no failure: %v", got)
	}
	if got := (Record{Failures: 2, LastFailure: at(0)}).Until(policy); !got.Equal(at(20)) {
		t.Errorf("two failures: %v", got)
	}
}
