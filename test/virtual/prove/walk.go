package prove

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxWalk exceeds the number of steps of any history.
const maxWalk = 1000

// walk tries random histories until a given time, and returns their number: violations that a search did not reach are
// deep.
func (x *search) walk(until time.Time, workers int) int {
	var group sync.WaitGroup
	var seed atomic.Int64
	for range workers {
		group.Go(func() {
			for time.Now().Before(until) && !x.found() {
				x.walkOnce(uint64(seed.Add(1)))
			}
		})
	}
	group.Wait()
	return int(seed.Load())
}

func (x *search) found() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.violation != nil
}

func (x *search) walkOnce(seed uint64) {
	r := newRun(x.smallWorld, maxWalk+1)
	defer r.abandon()
	r.rng = rand.New(rand.NewPCG(seed, 6))
	r.rare = 4 << r.rng.IntN(4) // Early faults prevent later ones.
	r.world.Checker.CoreEvery = 16
	var path [][]uint8
	for steps := r.steps(); len(steps) > 0 && len(path) < maxWalk && len(r.world.Checker.Violations) == 0; steps = r.steps() {
		r.take(steps, []uint8{uint8(r.rng.IntN(len(steps)))})
		path = append(path, slices.Clone(r.taken))
	}
	if wrong := r.wrongSoFar(); wrong != "" {
		x.violated(path, wrong)
	}
}
