//go:build builtin

package beside

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
)

var (
	seeds   = flag.Uint64("seeds", 0, "play that many pairs; 0 for as many as -minutes allow")
	first   = flag.Int64("first", -1, "the first seed; -1 for a random one")
	minutes = flag.Int("minutes", 10, "begin no pair after that many minutes, without -seeds")
)

const (
	// maxFailures is the number of failures that ends a run.
	maxFailures = 10
	// attempts is how often a pair with different states is played; it counts if one repetition confirms it.
	attempts = 3
)

// tally counts the results of the pairs.
type tally struct {
	t *testing.T
	sync.Mutex
	pairs, steps      int
	ends, differences map[string]int
	failures          int
	once              []uint64
}

// Both controllers do the same with the same Job, in each state on the way to its end (JOB-01..12, JOB-18, JOB-22..28, BLI-02..29,
// PRP-02..16, PFP-01..10, SUC-03..17, TRK-04), also when ours is restarted, or another leader continues.
func TestJobsDoTheSameWithBothControllers(t *testing.T) {
	total := &tally{t: t, ends: map[string]int{}, differences: map[string]int{}}
	begin, n := uint64(*first), *seeds
	if *first < 0 {
		begin = rand.Uint64N(1_000_000_000)
	}
	t.Logf("the first seed is %d", begin)
	started := time.Now()
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range parallel() {
		workers.Go(func() {
			for total.goesOn() && (n > 0 || time.Since(started) < time.Duration(*minutes)*time.Minute) {
				i := next.Add(1) - 1
				if n > 0 && i >= n {
					return
				}
				total.play(t.Context(), begin+i)
			}
		})
	}
	workers.Wait()
	total.report()
}

// parallel returns the number of pairs at once: the flag -parallel of go test.
func parallel() int {
	n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String())
	if err != nil {
		panic(err)
	}
	return n
}

func (t *tally) goesOn() bool {
	t.Lock()
	defer t.Unlock()
	return t.failures < maxFailures
}

// play plays the pair of a seed, and again if the states differ, or if the API server did not answer in time.
func (t *tally) play(ctx context.Context, seed uint64) {
	s := newStory(seed)
	var seen []error
	for attempt := range attempts {
		r, err := newPair(shared, s, attempt).play(ctx)
		if err == nil {
			t.add(r)
			if attempt == 0 {
				return
			}
			continue
		}
		seen = append(seen, err)
		if len(seen) > 1 {
			t.fail(err)
			return
		}
	}
	t.Lock()
	defer t.Unlock()
	t.once = append(t.once, seed)
	t.t.Logf("seed %d: different, or not played to its end, once in %d attempts:\n%v", seed, attempts, seen[0])
}

func (t *tally) fail(err error) {
	t.Lock()
	defer t.Unlock()
	t.failures++
	t.t.Errorf("twice different without a name, or interrupted:\n%v", err)
}

func (t *tally) add(r result) {
	t.Lock()
	defer t.Unlock()
	t.pairs++
	t.steps += r.steps
	t.ends[r.end]++
	for _, d := range r.differences {
		t.differences[d]++
	}
}

func (t *tally) report() {
	t.t.Logf("%d pairs with %d steps are the same; different or interrupted once, and not again: %v", t.pairs, t.steps, t.once)
	for _, end := range slices.Sorted(maps.Keys(t.ends)) {
		t.t.Logf("%6d × %s", t.ends[end], end)
	}
	for _, d := range differences.All() {
		if d.Align != nil {
			t.t.Logf("%6d × difference: %s", t.differences[d.Name], d.Name)
		}
	}
}
