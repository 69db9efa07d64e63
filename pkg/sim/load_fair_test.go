package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// SCL-04: the duration of a huge Job follows from the limit on API calls: it makes two calls per pod, and never pauses.
func TestHugeJobUsesItsLimit(t *testing.T) {
	const qps, pods = 100, 4000
	for name, spec := range map[string]batchv1.JobSpec{"indexed": scenario.IndexedSpec(pods, 1000), "nonindexed": scenario.NonIndexedSpec(pods, 1000, 6)} {
		l := newLoaded(t, sim.Options{QPS: qps, Workers: workers})
		l.add(1, func(int) batchv1.JobSpec { return spec }, nil)
		l.run()
		if most := 2 * pods * time.Second / qps; l.Elapsed() > most*102/100 {
			t.Errorf("%s: %v, want %v, with %s", name, l.Elapsed(), most, l.callsText())
		}
	}
}

// Requirements: SCL-04
func BenchmarkHugeJobAtRates(b *testing.B) {
	for qps, parallelism := range map[float64]int32{0: 1000, 100: 10_000} {
		b.Run(fmt.Sprintf("qps=%v/parallelism=%d", qps, parallelism), func(b *testing.B) {
			for b.Loop() {
				before := scenario.CPUSeconds()
				// As if 32 calls were in flight at once.
				l := newLoaded(b, sim.Options{QPS: qps, Workers: workers, Latency: 125 * time.Microsecond})
				l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(100_000, parallelism) }, nil)
				l.run()
				b.ReportMetric(scenario.CPUSeconds()-before, "CPU-s/op")
				b.ReportMetric(l.Elapsed().Minutes(), "virtual-min")
				b.ReportMetric(l.callsPerPod(), "calls/pod")
			}
		})
	}
}

// SCL-09: however many pods a Job has to create, account for or remove, one sync does only the work that fits into a
// status and into its time, and then lets other Jobs go first.
func TestWorkOfASyncIsCapped(t *testing.T) {
	l := newLoaded(t, sim.Options{QPS: 100, Workers: 1})
	most := reconcile.DefaultConfig().MaxPodChanges
	verbs := []string{"create", "patch", "delete"}
	syncs, highest := 0, map[string]int{}
	before := map[string]int{}
	l.OnSync = func(time.Duration) {
		syncs++
		for _, verb := range verbs {
			n := l.did(verb, "pods")
			highest[verb], before[verb] = max(highest[verb], n-before[verb]), n
		}
	}
	l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(5000, 2500) }, sim.Script{{Index: -1, Act: sim.Act{Run: 40 * time.Second}}})
	job := func() *batchv1.Job { return l.Store.Jobs()[l.jobs[0]] }
	l.until("a thousand have succeeded", func() bool { return job().Status.Succeeded > 1000 })
	if _, err := l.Store.EditJob(l.jobs[0], func(job *batchv1.Job) { *job.Spec.Parallelism = 10 }); err != nil {
		t.Fatal(err)
	}
	l.until("the rest is gone", func() bool { return job().Status.Active <= 10 })
	// A sync also ends when its time is up: here, after about 75 calls, but not before 100 pods are released or
	// deleted.
	least := map[string]int{"create": 70, "patch": 90, "delete": 50}
	for _, verb := range verbs {
		if highest[verb] > most || highest[verb] < least[verb] {
			t.Errorf("%s: %d in one of %d syncs; the limit is %d", verb, highest[verb], syncs, most)
		}
	}
}

// SCL-15: while thousands of pods are created and end, 99 % of the syncs take at most a second, if the API server
// handles hundreds of calls per second. At lower rates, they take the time of 100 changes, so that few of the calls are
// status writes (SCL-03).
func TestSyncsEndInTime(t *testing.T) {
	for qps, limit := range map[float64]time.Duration{300: time.Second, 100: 1500 * time.Millisecond, 20: 6 * time.Second} {
		l := newLoaded(t, sim.Options{QPS: qps, Workers: 5})
		l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(3000, 3000) }, sim.Script{{Index: -1, Act: sim.Act{Run: 4 * time.Second}}})
		l.run()
		if p99 := l.p99(); p99 > limit {
			t.Errorf("at %v calls per second, 1%% of the syncs take more than %v", qps, p99)
		}
		if writes := l.did("update", "jobs/status"); writes > 150 {
			t.Errorf("at %v calls per second, there are %d status writes", qps, writes)
		}
	}
}

// TRK-20, SCL-15: the next sync continues the work that a sync has no time for, even if the Job is gone.
func TestOrphansBeyondTheTimeOfASyncAreReleased(t *testing.T) {
	const pods = 300
	l := newLoaded(t, sim.Options{QPS: 100, Workers: 1})
	l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(pods, pods) }, sim.Script{{Index: -1, Act: sim.Act{Run: sim.Forever}}})
	l.until("all pods run", func() bool { return len(l.Store.Pods()) == pods })
	l.Outage(time.Minute)
	scenario.Must(l.Store.DeleteJob(l.jobs[0], metav1.DeletePropagationOrphan))
	l.Restart()
	tracked := func() (n int) {
		for _, pod := range l.Store.Pods() {
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				n++
			}
		}
		return n
	}
	if !l.RunUntil(func() bool { return tracked() == 0 }, time.Hour) {
		t.Errorf("%d pods hold the finalizer", tracked())
	}
}

// SCL-15: a sync that fails slowly is retried with a growing wait, like a sync that fails at once.
func TestSlowFailuresAreRetriedWithAWait(t *testing.T) {
	refused := func(c sim.Call) sim.Fault {
		if c.Verb == "create pod" {
			return sim.Fault{Kind: sim.Fail}
		}
		return sim.Fault{}
	}
	l := newLoaded(t, sim.Options{Latency: 4 * time.Second, Fault: refused})
	l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(1, 1) }, nil)
	l.RunUntil(func() bool { return false }, 10*time.Minute)
	// With waits of 1 s, 2 s, 4 s … 60 s.
	if n := l.did("create", "pods"); n < 5 || n > 16 {
		t.Errorf("%d creations in 10 minutes", n)
	}
}

// besideLatency is the longest duration of a call in beside.
const besideLatency = time.Millisecond

// beside measures Jobs of one pod that start one after the other, while a huge Job is constantly busy, with a single
// worker for all.
func beside(t *testing.T, hugePods int32, jobs int) (latencies []time.Duration) {
	l := newLoaded(t, sim.Options{Workers: 1, Latency: besideLatency})
	l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(hugePods, hugePods) }, nil)
	begun := map[string]time.Time{}
	for i := range jobs {
		l.After(time.Duration(i+1)*37*time.Millisecond, func() {
			l.add(1, func(int) batchv1.JobSpec { return scenario.NonIndexedSpec(1, 1, 6) }, nil)
			begun[l.jobs[len(l.jobs)-1]] = l.Now()
		})
	}
	l.until("the small Jobs are finished", func() bool {
		for name, at := range begun {
			if l.Finished(name) {
				latencies = append(latencies, l.Now().Sub(at))
				delete(begun, name)
			}
		}
		return len(latencies) == jobs
	})
	if l.Finished(l.jobs[0]) {
		t.Fatal("the huge Job was no longer busy", l.Elapsed(), latencies)
	}
	slices.Sort(latencies)
	return latencies
}

// SCL-09, TRK-33: with a single worker, each of the three syncs that a small Job needs waits for at most one sync of
// the huge Job, which ends with the stage in which its time is up: a status, 500 creations, and 500 released pods. The
// number of pods is irrelevant.
func TestHugeJobDelaysSmallOnesByOneSync(t *testing.T) {
	const syncs, stage = 3, (1 + 500 + 500) * besideLatency
	for _, pods := range []int32{10_000, 20_000} {
		latencies := beside(t, pods, 30)
		if slowest := latencies[len(latencies)-1]; slowest > syncs*(time.Second+stage) {
			t.Errorf("beside a Job of %d pods at once, the slowest took %v, half of them %v", pods, slowest, latencies[len(latencies)/2])
		}
	}
}
