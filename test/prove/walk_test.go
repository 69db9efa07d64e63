package prove

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxWalk is more steps than any history needs.
const maxWalk = 1000

// walk tries random histories until a moment, and returns how many: what a search did not come to
// is deep.
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
	r.rare = 4 << r.rng.IntN(4) // What goes wrong early keeps from what may go wrong later.
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
