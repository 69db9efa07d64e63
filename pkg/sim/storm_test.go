package sim_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// manySeeds multiplies the seeds for long runs: go test ./pkg/sim -run 'Storms|Tampering' -seeds 100
var manySeeds = flag.Uint64("seeds", 1, "replay storms under so many times as many seeds")

// storms are the faults that are added to every scenario file, each with some seeds. Invariants hold in all of them.
// Two leaders sometimes create too many pods, but the outcome of a Job is the same as with one.
var storms = []struct {
	name  string
	seeds uint64
	same  scenario.Comparison
	of    func(seed uint64) scenario.Trouble
}{
	{"random faults", 12, scenario.Conditions, func(seed uint64) scenario.Trouble { return scenario.Trouble{Fault: randomFaults(seed)} }},
	{"any faults and closed watches", 6, scenario.Nothing, func(seed uint64) scenario.Trouble {
		return scenario.Trouble{Seed: seed, Fault: anyFault(seed), Watch: anyWatchFault(seed)}
	}},
	{"two leaders", 3, scenario.Conditions, func(seed uint64) scenario.Trouble {
		return scenario.Trouble{Seed: seed, Begun: secondLeader(sim.ProcessOptions{})}
	}},
	{"two leaders, one slow and with its clock behind", 2, scenario.ConditionsBeforeDeadlines, func(seed uint64) scenario.Trouble {
		return scenario.Trouble{Seed: seed, Begun: secondLeader(sim.ProcessOptions{Lag: 2 * time.Second, Clock: -30 * time.Second})}
	}},
	{"two leaders and faults", 2, scenario.Nothing, func(seed uint64) scenario.Trouble {
		return scenario.Trouble{Seed: seed, Begun: secondLeader(sim.ProcessOptions{}), Fault: anyFault(seed), Watch: anyWatchFault(seed)}
	}},
	{"shards that move and split", 2, scenario.Nothing, func(seed uint64) scenario.Trouble { return shardsMove(seed, 0) }},
	{"shards that are held twice", 2, scenario.Nothing, func(seed uint64) scenario.Trouble { return shardsMove(seed, 20*time.Second) }},
	{"shards that nobody holds", 2, scenario.Nothing, func(seed uint64) scenario.Trouble { return shardsMove(seed, -20*time.Second) }},
	{"shards and faults", 2, scenario.Nothing, func(seed uint64) scenario.Trouble {
		moves := shardsMove(seed, 5*time.Second)
		moves.Fault, moves.Watch = anyFault(seed), anyWatchFault(seed)
		return moves
	}},
	{"outage", 2, scenario.Nothing, outage},
	{"wrong clock", 2, scenario.Nothing, wrongClock},
	{"clock that jumps", 2, scenario.Nothing, jumpingClock},
	{"webhooks", 3, scenario.Nothing, webhooks},
	{"held while deleted", 2, scenario.Nothing, heldWhileDeleted},
	{"few calls", 2, scenario.Nothing, fewCalls},
	{"cleanup of ended pods", 2, scenario.Nothing, cleanup},
	{"a quota that comes and goes", 2, scenario.Nothing, quotaComesAndGoes},
	{"elastic edits, two leaders", 3, scenario.Nothing, elasticEdits},
}

// TestInvariantsHoldInStorms replays every scenario file in every storm: fail-over, two leaders (JOB-56),
// shards that move, split, and are held twice or not at all (SHD-09), an API server that is unreachable for minutes
// (JOB-57), closed watches and old lists (TRK-21, REG-26), and wrong clocks.
func TestInvariantsHoldInStorms(t *testing.T) {
	replayAll(t, func(r scenario.Replay, t *testing.T) {
		want := r.Run(t, scenario.Trouble{})
		for _, storm := range storms {
			for seed := range scenario.FewerSeeds(storm.seeds * *manySeeds) {
				if problem := r.Problem(t, func() scenario.Trouble { return storm.of(seed) }, want, storm.same); problem != "" {
					t.Errorf("%s, seed %d: %s", storm.name, seed, problem)
					return
				}
			}
		}
	})
}

// randomFaults returns a fault for one call in sixteen.
func randomFaults(seed uint64) func(sim.Call) sim.Fault {
	state := seed*2654435761 + 1
	return func(sim.Call) sim.Fault {
		state = state*6364136223846793005 + 1442695040888963407
		if state>>60 != 0 {
			return sim.Fault{}
		}
		return sim.Fault{Kind: sim.FaultKind(state>>56&3) + 1}
	}
}

func secondLeader(o sim.ProcessOptions) func(*checker.World) {
	return func(w *checker.World) { w.SecondLeader(o) }
}

// shardsMove changes the number of shards several times. Each time, the old holders end up to after later than the new
// ones begin, or earlier, if after is negative.
func shardsMove(seed uint64, after time.Duration) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 12))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		for range 5 {
			at, count := time.Duration(rng.Int64N(int64(time.Minute))), 1+rng.IntN(4)
			wait := time.Duration(float64(after) * rng.Float64())
			w.After(at, func() { w.Reshard(count, wait) })
		}
	}}
}

func outage(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 5))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		w.After(time.Duration(rng.Int64N(int64(10*time.Second))), func() { w.Outage(time.Duration(rng.IntN(300)) * time.Second) })
	}}
}

// wrongClock is ahead or behind by some twenty minutes: if it is corrected later, the end of a deadline is still within
// the hour that a replay waits.
func wrongClock(seed uint64) scenario.Trouble {
	wrong := time.Duration(20+seed/2%10) * time.Minute
	if seed%2 == 0 {
		wrong = -wrong
	}
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) { w.SetClock(wrong) }}
}

func jumpingClock(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 6))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		for range 4 {
			w.After(time.Duration(rng.Int64N(int64(10*time.Second))), func() { w.SetClock(time.Duration(rng.IntN(120)-60) * time.Second) })
		}
	}}
}

// webhooks reject one pod write in four, in various ways, for some time.
func webhooks(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 7))
	kinds := []sim.FaultKind{sim.Conflict, sim.Malformed, sim.Misrouted, sim.Reject, sim.Fail}
	var w *checker.World
	until := time.Duration(rng.IntN(120)) * time.Second
	return scenario.Trouble{Seed: seed, Begun: func(begun *checker.World) { w = begun }, Fault: func(c sim.Call) sim.Fault {
		if w.Elapsed() > until || !strings.HasSuffix(c.Verb, " pod") || rng.IntN(4) > 0 {
			return sim.Fault{}
		}
		return sim.Fault{Kind: kinds[rng.IntN(len(kinds))]}
	}}
}

// heldWhileDeleted deletes every Job at some time, with a foreign finalizer that is removed when the Job has finished,
// or after a while.
func heldWhileDeleted(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 8))
	hows := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		at, how, hold := time.Duration(rng.Int64N(int64(40*time.Second))), hows[rng.IntN(len(hows))], time.Duration(rng.IntN(600))*time.Second
		w.After(at, func() {
			for _, name := range w.EditJobs(func(j *batchv1.Job) { j.Finalizers = append(j.Finalizers, model.Holder) }) {
				scenario.Must(w.Store.DeleteJob(name, how))
				w.After(hold, func() { w.Store.FinalizeJob(name, model.Holder) })
			}
		})
	}}
}

// fewCalls limits the controller to five to twenty calls a second, and gives every Job a deadline.
func fewCalls(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 9))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		w.QPS = float64(5 + rng.IntN(16))
		w.After(time.Duration(rng.IntN(1000))*time.Millisecond, func() {
			w.EditJobs(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To(1 + rng.Int64N(30)) })
		})
	}}
}

// cleanup deletes pods that have ended and been released, one per second.
func cleanup(seed uint64) scenario.Trouble {
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		var next func()
		next = func() {
			for _, name := range slices.Sorted(maps.Keys(w.Store.Pods())) {
				if pod := w.Store.Pods()[name]; history.HasEnded(pod) && len(pod.Finalizers) == 0 {
					_, _ = w.Store.DeletePod(name, pod.UID)
					break
				}
			}
			if w.Elapsed() < 5*time.Minute {
				w.After(time.Second, next)
			}
		}
		w.After(time.Second, next)
	}}
}

// quotaComesAndGoes limits the number of pods for a few seconds, several times.
func quotaComesAndGoes(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 10))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		for range 5 {
			at := time.Duration(rng.Int64N(int64(time.Minute)))
			w.After(at, func() { w.Store.SetQuota(rng.IntN(4)); w.Checker.Troubled() })
			w.After(at+time.Duration(rng.Int64N(int64(20*time.Second))), func() { w.Store.SetQuota(-1); w.Checker.Troubled() })
		}
	}}
}

// elasticEdits changes the size of elastic Jobs, with two leaders, one of them slow.
func elasticEdits(seed uint64) scenario.Trouble {
	rng := rand.New(rand.NewPCG(seed, 11))
	return scenario.Trouble{Seed: seed, Begun: func(w *checker.World) {
		w.SecondLeader(sim.ProcessOptions{Lag: time.Duration(1+rng.IntN(4000)) * time.Millisecond})
		for range 6 {
			w.After(time.Duration(rng.Int64N(int64(20*time.Second))), func() {
				w.EditJobs(func(j *batchv1.Job) {
					n := 1 + rng.Int32N(8)
					if history.IsIndexed(&j.Spec) && ptr.Equal(j.Spec.Completions, j.Spec.Parallelism) {
						j.Spec.Completions = &n
					}
					j.Spec.Parallelism = &n
				})
			})
		}
	}}
}

// broke are the seeds of storms that once broke an invariant, or revealed an error in the Checker.
var broke = []struct {
	file, storm string
	seed        uint64
}{
	{"adoption", "two leaders", 30},
	{"clock-jumps-past-the-deadline", "wrong clock", 7},
	{"stray-of-a-deleted-job", "any faults and closed watches", 48},
	{"outage", "elastic edits, two leaders", 2},
	{"per-index-retries", "elastic edits, two leaders", 5},
	{"ramp-up-with-deadline", "two leaders", 0},
	{"ramp-up-with-deadline", "elastic edits, two leaders", 6},
	{"leaders-fail-job", "few calls", 1},
	{"webhook-without-causes", "held while deleted", 1},
	{"too-many-successes", "held while deleted", 1},
	{"retries-with-backoff", "cleanup of ended pods", 0},
	{"leaders-per-index", "held while deleted", 75},
	{"ignored-retries", "two leaders", 169},
	{"clock-jumps-past-the-deadline", "elastic edits, two leaders", 194},
	{"success-never-turns", "two leaders, one slow and with its clock behind", 71},
}

// TestStormsThatBrokeHoldNow replays the storms in broke in every run.
// Requirements: JOB-56
func TestStormsThatBrokeHoldNow(t *testing.T) {
	for _, b := range broke {
		t.Run(b.file+"/"+b.storm, func(t *testing.T) {
			t.Parallel()
			r := scenario.ReadReplay(t, "testdata/scenarios/"+b.file)
			for _, storm := range storms {
				if storm.name != b.storm {
					continue
				}
				if problem := r.Problem(t, func() scenario.Trouble { return storm.of(b.seed) }, r.Run(t, scenario.Trouble{}), storm.same); problem != "" {
					t.Errorf("seed %d: %s", b.seed, problem)
				}
			}
		})
	}
}
