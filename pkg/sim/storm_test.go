package sim

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// manySeeds makes long runs: go test ./pkg/sim -run 'Storms|Tampering' -seeds 100
var manySeeds = flag.Uint64("seeds", 1, "replay storms under so many times as many seeds")

// storms are what goes wrong in every scenario file besides what the file says, under
// some seeds each. Invariants hold in all of them. Two leaders make pods too many at times,
// but what a Job comes to is the same as with one.
var storms = []struct {
	name  string
	seeds uint64
	same  comparison
	of    func(seed uint64) trouble
}{
	{"random faults", 12, nothing, func(seed uint64) trouble { return trouble{fault: randomFaults(seed)} }},
	{"any faults and closed watches", 6, nothing, func(seed uint64) trouble {
		return trouble{seed: seed, fault: anyFault(seed), watch: anyWatchFault(seed)}
	}},
	{"two leaders", 3, fates, func(seed uint64) trouble { return trouble{seed: seed, begun: secondLeader(ProcessOptions{})} }},
	{"two leaders, one slow and with its clock behind", 2, fates, func(seed uint64) trouble {
		return trouble{seed: seed, begun: secondLeader(ProcessOptions{Lag: 2 * time.Second, Clock: -30 * time.Second})}
	}},
	{"two leaders and faults", 2, nothing, func(seed uint64) trouble {
		return trouble{seed: seed, begun: secondLeader(ProcessOptions{}), fault: anyFault(seed), watch: anyWatchFault(seed)}
	}},
	{"outage", 2, nothing, outage},
	{"wrong clock", 2, nothing, wrongClock},
	{"clock that jumps", 2, nothing, jumpingClock},
}

// TestStorms_JOB_56_JOB_57 replays every scenario file in every storm: fail-over, two
// leaders (JOB-56), the API server away for minutes (JOB-57), watches that are closed and
// lists that are old (TRK-21, REG-26), clocks that are wrong.
func TestStorms_JOB_56_JOB_57(t *testing.T) {
	replayAll(t, func(r replay, t *testing.T) {
		want := r.run(t, trouble{})
		for _, storm := range storms {
			for seed := range fewerSeeds(storm.seeds * *manySeeds) {
				if problem := r.problem(t, func() trouble { return storm.of(seed) }, want, storm.same); problem != "" {
					t.Errorf("%s, seed %d: %s", storm.name, seed, problem)
					return
				}
			}
		}
	})
}

func secondLeader(o ProcessOptions) func(*World) {
	return func(w *World) { w.SecondLeader(o) }
}

func outage(seed uint64) trouble {
	rng := rand.New(rand.NewPCG(seed, 5))
	return trouble{seed: seed, begun: func(w *World) {
		w.after(time.Duration(rng.Int64N(int64(10*time.Second))), func() { w.Outage(time.Duration(rng.IntN(300)) * time.Second) })
	}}
}

func wrongClock(seed uint64) trouble {
	return trouble{seed: seed, begun: func(w *World) { w.SetClock(time.Duration(int(seed)*2-1) * 20 * time.Minute) }}
}

func jumpingClock(seed uint64) trouble {
	rng := rand.New(rand.NewPCG(seed, 6))
	return trouble{seed: seed, begun: func(w *World) {
		for range 4 {
			w.after(time.Duration(rng.Int64N(int64(10*time.Second))), func() { w.SetClock(time.Duration(rng.IntN(120)-60) * time.Second) })
		}
	}}
}

// TestTampering_REG_33 runs the random cases while somebody does to pods and Jobs what a
// user with all rights can: no panic, no invariant broken but those that he breaks
// himself, and an end, unless he sees to it that a pod runs forever.
func TestTampering_REG_33(t *testing.T) {
	for name, c := range randomCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range fewerSeeds(40 * *manySeeds) {
				w := NewWorld(Options{Seed: seed})
				must(w.CreateJob("a", *c.spec.DeepCopy(), c.script))
				tamper(w, seed, 1+int(seed%8))
				w.RunUntil(func() bool { return w.Elapsed() > time.Minute && w.Finished("a") }, 20*time.Minute)
				problems := w.Checker.Violations
				if !w.Finished("a") && w.Store.Job("a").Status.Active == 0 {
					problems = append(problems, "L1: not finished")
				}
				if err := w.Settle(time.Hour); err != nil {
					problems = append(problems, "L3: "+err.Error())
				}
				if len(problems) > 0 {
					t.Fatalf("seed %d:\n%s\n\n%s", seed, strings.Join(problems, "\n"), w.Trace())
				}
			}
		})
	}
}
