package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	kubemetrics "k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// loaded is a World whose controller has a limit on its API calls, with measurements.
type loaded struct {
	*sim.World
	t        testing.TB
	registry kubemetrics.KubeRegistry
	took     []time.Duration
	jobs     []string
	pods     int32
}

// workers is the default number of Jobs synced at once.
const workers = 5

// newLoaded returns a new World; the options set the limits of the controller.
func newLoaded(t testing.TB, o sim.Options) *loaded {
	l := &loaded{t: t, registry: kubemetrics.NewKubeRegistry()}
	o.OnSync = func(d time.Duration) { l.took = append(l.took, d) }
	o.Controller.Metrics = metrics.New(l.registry, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	l.World = sim.NewWorld(o)
	return l
}

// A World without checks gives up after manyWrites, and writesPerPod for each pod that is needed: several times the
// actual number.
const manyWrites, writesPerPod = 20_000, 50

// add creates n Jobs, all at once.
func (l *loaded) add(n int, spec func(i int) batchv1.JobSpec, script sim.Script) {
	l.t.Helper()
	for i := range n {
		name, s := fmt.Sprintf("job-%d", len(l.jobs)), spec(i)
		assert.NoError(l.t, l.CreateJob(name, s, script))
		l.jobs, l.pods = append(l.jobs, name), l.pods+*s.Completions
	}
	l.MaxWrites = manyWrites + writesPerPod*int(l.pods)
}

// run waits until all Jobs have finished.
func (l *loaded) run() {
	l.t.Helper()
	l.until("all Jobs are finished", func() bool { return l.FinishedAll() })
}

func (l *loaded) until(what string, reached func() bool) {
	l.t.Helper()
	if !l.RunUntil(reached, 24*time.Hour) {
		l.t.Fatalf("a day has passed before %s: %s", what, sim.WhyGaveUp(l.World))
	}
}

// operations returns the number of creations and accountings of pods per minute.
func (l *loaded) operations() float64 { return 2 * float64(l.pods) / l.Elapsed().Minutes() }

func (l *loaded) callsPerPod() float64 { return float64(l.Calls()) / float64(l.pods) }

// p99 returns the 99th percentile of all syncs since the last call.
func (l *loaded) p99() time.Duration {
	slices.Sort(l.took)
	p99 := l.took[len(l.took)*99/100]
	l.took = nil
	return p99
}

// count sums a counter of the controller, for all series with the given labels.
func (l *loaded) count(counter string, labels map[string]string) (sum float64) {
	l.t.Helper()
	families, err := l.registry.Gather()
	assert.NoError(l.t, err)
	for _, family := range families {
		if family.GetName() != "job_controller_"+counter {
			continue
		}
		for _, m := range family.Metric {
			wanted := len(labels)
			for _, label := range m.Label {
				if labels[label.GetName()] == label.GetValue() {
					wanted--
				}
			}
			if wanted == 0 {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// did returns the number of API calls.
func (l *loaded) did(verb, resource string) int {
	return int(l.count("api_calls_total", map[string]string{"verb": verb, "resource": resource}))
}

// callsText returns the numbers of API calls for messages.
func (l *loaded) callsText() string {
	return fmt.Sprintf("%d creations, %d patches, %d deletions, %d statuses", l.did("create", "pods"), l.did("patch", "pods"), l.did("delete", "pods"), l.did("update", "jobs/status"))
}

// failedSyncs returns how many syncs of an action failed, or of all actions if action is "".
func (l *loaded) failedSyncs(action string) (failed, all float64) {
	labels := map[string]string{}
	if action != "" {
		labels["action"] = action
	}
	all = l.count("job_syncs_total", labels)
	labels["result"] = "error"
	return l.count("job_syncs_total", labels), all
}

// tens returns the Jobs that KEP-2307 measured: they run ten pods at a time, half of them Indexed.
func tens(i int) batchv1.JobSpec {
	if i%2 == 0 {
		return scenario.IndexedSpec(30, 10)
	}
	return scenario.NonIndexedSpec(30, 10, 6)
}

// leastPerMinute are the pod operations that KEP-2307 requires, by the limit.
var leastPerMinute = map[float64]float64{50: 2500, 100: 5000}

// loadTens keeps a controller busy for over a minute.
func loadTens(t *testing.T, qps float64) *loaded {
	l := newLoaded(t, sim.Options{QPS: qps, Workers: workers})
	l.add(int(qps), tens, nil)
	l.run()
	return l
}

// SCL-01, SCL-02, SCL-03: with a limit of 50 calls per second, there are 2,500 pod operations per minute, with 100
// calls 5,000; all other calls are at most 0.2 per pod.
func TestPodOperationsReachTheirRate(t *testing.T) {
	for qps, least := range leastPerMinute {
		l := loadTens(t, qps)
		if got := l.operations(); got < least {
			t.Errorf("%v calls per second: %.0f operations per minute, want %.0f", qps, got, least)
		}
		if got := l.callsPerPod(); got > 2.2 {
			t.Errorf("%v calls per second: %.3f calls per pod", qps, got)
		}
	}
}

// SCL-03: there is one creation and one patch for each pod. The other calls per pod decrease with the parallelism: the
// status is written at most once a second, except at the Job's beginning and end.
func TestPodTakesTwoCalls(t *testing.T) {
	for parallelism, most := range map[int32]float64{10: 2.2, 100: 2.03, 1000: 2.01} {
		l := newLoaded(t, sim.Options{})
		l.add(1, func(int) batchv1.JobSpec { return scenario.IndexedSpec(3*parallelism, parallelism) }, sim.Script{{Index: -1, Act: sim.Act{Run: 2 * time.Second}}})
		l.run()
		// The calls at the beginning and the end of the Job do not depend on its pods.
		if got := float64(l.Calls()-4) / float64(l.pods); got > most {
			t.Errorf("parallelism %d: %.3f calls per pod, want %.3f", parallelism, got, most)
		}
		if n := int(l.pods); l.did("create", "pods") != n || l.did("patch", "pods") != n || float64(l.did("update", "jobs/status")) > l.Elapsed().Seconds()+4 {
			t.Errorf("parallelism %d: %d pods took %s in %v", parallelism, n, l.callsText(), l.Elapsed())
		}
	}
}

// suspendTens runs Jobs, and then suspends them all at once.
func suspendTens(t *testing.T, qps float64) *loaded {
	l := newLoaded(t, sim.Options{QPS: qps, Workers: workers})
	l.add(int(qps), tens, sim.Script{{Index: -1, Act: sim.Act{Run: sim.Forever}}})
	active := func(n int32) func() bool {
		return func() bool {
			return !slices.ContainsFunc(l.jobs, func(name string) bool { return l.Store.Jobs()[name].Status.Active != n })
		}
	}
	l.until("all pods run", active(10))
	l.took = nil
	for _, name := range l.jobs {
		if _, err := l.Store.EditJob(name, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }); err != nil {
			t.Fatal(err)
		}
	}
	l.until("all Jobs are suspended", active(0))
	return l
}

// loadPolicies runs Jobs of twelve pods, half of them with a successPolicy.
func loadPolicies(t *testing.T, qps float64) *loaded {
	l := newLoaded(t, sim.Options{QPS: qps, Workers: workers})
	l.add(100, func(i int) batchv1.JobSpec {
		spec := scenario.IndexedSpec(12, 12)
		if i%2 == 0 {
			spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](10)}}}
		}
		return spec
	}, sim.Script{{Index: -1, Act: sim.Act{Run: 5 * time.Second}}})
	l.run()
	return l
}

// SCL-05, SCL-06, SUC-25: at 50 calls per second, 99 % of the syncs take at most 15 s, and less than 1 % fail, also of
// the syncs that delete pods, and of Jobs with a successPolicy.
func TestSyncsAreQuickAndRarelyFail(t *testing.T) {
	for name, c := range map[string]struct {
		load   func(*testing.T, float64) *loaded
		action string
	}{
		"all":           {loadTens, ""},
		"deleting pods": {suspendTens, "pods_deleted"},
		"policies":      {loadPolicies, ""},
	} {
		l := c.load(t, 50)
		if got := l.p99(); got > 15*time.Second {
			t.Errorf("%s: 99 of 100 syncs take %v at most", name, got)
		}
		if failed, all := l.failedSyncs(c.action); all < 50 || failed > 0.01*all {
			t.Errorf("%s: %v of %v syncs failed", name, failed, all)
		}
	}
}
