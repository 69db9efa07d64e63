package sim_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// referenceQPS is the limit of the KEPs' measurements below. They also allowed a burst of as many calls, which the
// virtual cluster does not: burst accounts for the difference.
const (
	referenceQPS = 100
	burst        = time.Second
)

// referenceTimes are the results of KEP-3850, by the number of indexes.
var referenceTimes = map[int32]struct{ succeed, fail time.Duration }{
	10:     {3 * time.Second, 3 * time.Second},
	100:    {3100 * time.Millisecond, 3 * time.Second},
	1000:   {19400 * time.Millisecond, 21 * time.Second},
	10_000: {223 * time.Second, 202 * time.Second},
}

// newReference returns a World with a negligible back-off, as in the KEP's benchmark. Then the places of failed pods do not
// wait, either: with any other back-off, that of an index is longer.
func newReference(t *testing.T) *loaded {
	limits := reconcile.DefaultConfig()
	limits.Backoff, limits.MinRequeue, limits.FailureHold = backoff.Policy{Base: time.Millisecond, Max: time.Millisecond}, time.Millisecond, time.Millisecond
	return newLoaded(t, sim.Options{QPS: referenceQPS, Workers: workers, Controller: controller.Config{Limits: limits}})
}

func indexesOf(n int32, perIndex bool) batchv1.JobSpec {
	spec := scenario.IndexedSpec(n, n)
	spec.BackoffLimit = ptr.To[int32](1 << 30)
	if perIndex {
		spec.BackoffLimitPerIndex = ptr.To[int32](1)
	}
	return spec
}

// timeSuccess returns the time from a Job's creation to its end, and the number of API calls.
func timeSuccess(t *testing.T, n int32, perIndex bool) (time.Duration, int) {
	l := newReference(t)
	l.add(1, func(int) batchv1.JobSpec { return indexesOf(n, perIndex) }, nil)
	l.run()
	return l.Elapsed(), l.Calls()
}

// timeFailure returns the time from the simultaneous end of all pods until all are counted and replaced, and the number
// of API calls.
func timeFailure(t *testing.T, n int32, perIndex bool) (time.Duration, int) {
	l := newReference(t)
	l.add(1, func(int) batchv1.JobSpec { return indexesOf(n, perIndex) }, sim.Script{{Index: -1, Act: sim.Act{Run: sim.Forever}}})
	job := func() *batchv1.JobStatus { return &l.Store.Jobs()[l.jobs[0]].Status }
	l.until("all pods run", func() bool { return ptr.Deref(job().Ready, 0) == n })
	begun := l.Elapsed()
	for _, pod := range l.Store.PodsOf(l.Store.Jobs()[l.jobs[0]].UID) {
		scenario.SetPhase(l.World, pod.Name, corev1.PodFailed, ptr.To[int32](1))
	}
	l.until("all have failed, and run again", func() bool {
		return job().Failed == n && job().Active == n && len(job().UncountedTerminatedPods.Failed) == 0
	})
	return l.Elapsed() - begun, l.Calls()
}

// SCL-07, BLI-33, BLI-39: Jobs take no longer than in the KEP, and a limit per index costs no API calls, and almost no
// time: the failed indexes are part of the same status writes.
func TestJobsTakeNoLongerThanInTheKEP(t *testing.T) {
	for n, reference := range referenceTimes {
		if n > 1000 && testing.Short() {
			continue
		}
		for name, c := range map[string]struct {
			took func(*testing.T, int32, bool) (time.Duration, int)
			most time.Duration
		}{
			"succeed": {timeSuccess, reference.succeed},
			"fail":    {timeFailure, reference.fail},
		} {
			plain, calls := c.took(t, n, false)
			limited, more := c.took(t, n, true)
			if plain > c.most+burst || limited > c.most+burst {
				t.Errorf("%d indexes %s in %v, with a limit per index in %v; the KEP's in %v", n, name, plain, limited, c.most)
			}
			if limited > plain*101/100+time.Second {
				t.Errorf("%d indexes %s in %v, with a limit per index in %v", n, name, plain, limited)
			}
			if float64(more) > 1.01*float64(calls)+2 {
				t.Errorf("%d indexes %s with %d calls, with a limit per index %d", n, name, calls, more)
			}
		}
	}
}

// mix is a set of Jobs of several sizes.
type mix []struct {
	jobs int
	pods int32
}

// mixes are the loads of KEP-2214 and KEP-2879, as far as these describe them: the number of Jobs and pods. Their Jobs
// ended without an interim condition, for which each Job needs one more status today.
var mixes = map[string]struct {
	mix     mix
	indexed bool
	run     time.Duration
	most    time.Duration
}{
	"101 Jobs, 1200 pods, Indexed":    {mix{{100, 10}, {1, 200}}, true, 0, 33400 * time.Millisecond},
	"101 Jobs, 1200 pods, NonIndexed": {mix{{100, 10}, {1, 200}}, false, 0, 34200 * time.Millisecond},
	"338 Jobs, 3000 pods of 30 s":     {mix{{296, 9}, {42, 8}}, false, 30 * time.Second, 71 * time.Second},
}

func timeMix(t *testing.T, m mix, indexed bool, run time.Duration) *loaded {
	l := newReference(t)
	for _, part := range m {
		l.add(part.jobs, func(int) batchv1.JobSpec {
			if indexed {
				return scenario.IndexedSpec(part.pods, part.pods)
			}
			return scenario.NonIndexedSpec(part.pods, part.pods, 6)
		}, sim.Script{{Index: -1, Act: sim.Act{Run: run}}})
	}
	l.run()
	return l
}

// SCL-08: many Jobs at once take no longer than in the KEPs.
func TestMixesOfJobsTakeNoLongerThanInTheKEPs(t *testing.T) {
	for name, m := range mixes {
		l := timeMix(t, m.mix, m.indexed, m.run)
		if interim := time.Duration(len(l.jobs)) * time.Second / referenceQPS; l.Elapsed() > m.most+interim+burst {
			t.Errorf("%s: %v, want %v: %s", name, l.Elapsed(), m.most, l.callsText())
		}
	}
}
