package integration

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Each index fails by another rule, one by no rule, and the last one by the rule that fails the Job.
// Requirements: PFP-13, PFP-14, PFN-14
func TestFailuresByRuleAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// An ignored failure is recorded nowhere.
	f.tolerated = []string{"S2", "S3"}
	m := f.newMeter()
	f.startController(m.counts)
	f.create(withNames("3=Named", newJob(indexed(5), perIndexLimit(3), failurePolicy(
		onDisruption(batchv1.PodFailurePolicyActionIgnore), onExit(batchv1.PodFailurePolicyActionCount, 10),
		onExit(batchv1.PodFailurePolicyActionFailIndex, 20), onExit(batchv1.PodFailurePolicyActionFailJob, 30)))))
	f.untilActive(5)
	f.kubelet.failBy(f.indexOfJob("a", 0), disrupted)
	f.kubelet.exit(10, f.indexOfJob("a", 1))
	f.kubelet.exit(20, f.indexOfJob("a", 2))
	f.kubelet.exit(99, f.indexOfJob("a", 3))
	f.untilJob("a", "has counted three", func(job *batchv1.Job) bool { return job.Status.Failed == 3 })
	handled := map[string]float64{
		"pod_failures_handled_by_failure_policy_total{action=Ignore}":    1,
		"pod_failures_handled_by_failure_policy_total{action=Count}":     1,
		"pod_failures_handled_by_failure_policy_total{action=FailIndex}": 1,
	}
	m.until(handled, "pod_failures_handled_by_failure_policy_total")

	// Pods that end because the Job ends are not handled by a rule.
	f.untilActive(4)
	f.kubelet.exit(30, f.indexOfJob("a", 4))
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_Named", 0, 7)
	f.untilReleased()
	handled["pod_failures_handled_by_failure_policy_total{action=FailJob}"] = 1
	handled["jobs_finished_total{completion_mode=Indexed,reason=PodFailurePolicy,result=failed}"] = 1
	m.until(handled, "pod_failures_handled_by_failure_policy_total", "jobs_finished_total")
}

// Two controllers in sequence count everything once, whatever faults the terminal write has.
// Requirements: JOB-50, SUC-18
func TestFinishedJobIsCountedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	p := f.startController(m.counts)
	conflict := p.wire.reject(statusPut.holding(string(batchv1.JobComplete)), http.StatusConflict)
	f.create(newJob(indexed(2), successPolicy(countSucceeds(1))))
	f.untilActive(2)
	f.kubelet.succeed(f.indexOfJob("a", 0))
	f.until("the terminal condition was to be written", func() bool { return conflict.count() > 0 })
	if got := m.read("jobs_finished_total"); len(got) > 0 {
		t.Errorf("counted before the terminal condition is stored: %v", got)
	}
	conflict.lift()
	f.untilFinished("a", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 1, 0)
	f.create(named("later", newJob(parallelism(0), completions(0))))
	f.untilComplete("later", 0, 0)
	want := map[string]float64{
		"jobs_finished_total{completion_mode=Indexed,reason=SuccessPolicy,result=succeeded}":         1,
		"jobs_finished_total{completion_mode=NonIndexed,reason=CompletionsReached,result=succeeded}": 1,
	}
	m.until(want, "jobs_finished_total")
	p.stop()
	f.startController(m.counts)
	f.untilWorking()
	m.until(want, "jobs_finished_total")
}

// Pods that finish with the tracking finalizer come and go, and change the counters.
// Requirements: TRK-30
func TestFinishedPodsAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  *batchv1.Job
		play func(f *fixture)
		// pods is the number of pods that the metric of finalizers counts.
		pods float64
		want map[string]float64
	}{
		"7 of a NonIndexed Job": {
			newJob(completions(5), parallelism(5)),
			func(f *fixture) {
				pods := f.untilActive(5)
				f.kubelet.fail(pods[:2]...)
				f.untilCounts("a", counts{active: 5, failed: 2})
				f.kubelet.play(everySucceeds)
				f.untilComplete("a", 5, 2)
			}, 7,
			map[string]float64{
				"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 5,
				"job_pods_finished_total{completion_mode=NonIndexed,result=failed}":    2,
			},
		},
		"5 of an Indexed Job": {
			newJob(indexed(4), parallelism(3)),
			func(f *fixture) {
				f.kubelet.fail(f.untilActive(3)[1])
				f.kubelet.play(everySucceeds)
				f.untilComplete("a", 4, 1)
			}, 5,
			map[string]float64{
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}": 4,
				"job_pods_finished_total{completion_mode=Indexed,result=failed}":    1,
				"job_finished_indexes_total{backoffLimit=global,status=succeeded}":  4,
			},
		},
		"5 of a Job that fails, and 2 that are killed": {
			newJob(indexed(7), perIndexLimit(0), onNode, failurePolicy(onExit(batchv1.PodFailurePolicyActionFailJob, 42))),
			func(f *fixture) {
				f.untilActive(7)
				f.kubelet.run(f.untilActive(7)...)
				f.kubelet.fail(f.indexOfJob("a", 0))
				f.kubelet.succeed(f.indexOfJob("a", 1), f.indexOfJob("a", 2), f.indexOfJob("a", 3))
				f.untilCounts("a", counts{active: 3, ready: 3, succeeded: 3, failed: 1})
				f.kubelet.exit(42, f.indexOfJob("a", 4))
				// They lose the finalizer before they end.
				f.untilIs("a", batchv1.JobFailureTarget)
				f.untilReleased()
				f.kubelet.play(noneEnds)
				f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_0", 3, 4)
			}, 5,
			map[string]float64{
				"job_pods_finished_total{completion_mode=Indexed,result=succeeded}":  3,
				"job_pods_finished_total{completion_mode=Indexed,result=failed}":     4,
				"job_finished_indexes_total{backoffLimit=perIndex,status=succeeded}": 3,
				"job_finished_indexes_total{backoffLimit=perIndex,status=failed}":    2, // FailJob was too many for its index.
			},
		},
		"0 of a Job that is deleted": {
			newJob(completions(2), parallelism(2)),
			func(f *fixture) {
				f.kubelet.run(f.untilActive(2)...)
				f.untilCounts("a", counts{active: 2, ready: 2})
				f.deleteJob("a", metav1.DeletePropagationBackground)
			}, 0,
			map[string]float64{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			m := f.newMeter()
			f.startController(m.counts)
			f.create(c.job)
			c.play(f)
			f.untilReleased()
			if c.pods > 0 {
				for _, event := range []string{"add", "delete"} {
					c.want[fmt.Sprintf("terminated_pods_tracking_finalizer_total{event=%s}", event)] = c.pods
				}
			}
			m.until(c.want, "terminated_pods_tracking_finalizer_total", "job_pods_finished_total", "job_finished_indexes_total")
		})
	}
}

// Pods of another controller's Job are not counted, although they hold the same finalizer.
// Requirements: TRK-30
func TestFinishedPodsOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// The other controller records nothing.
	f.tolerated = []string{"S2"}
	m := f.newMeter()
	f.startController(m.counts)
	theirs := f.createPodOf(f.create(named("theirs", newJob(managedBy(otherController)))))
	f.kubelet.succeed(theirs)
	f.create(newJob(completions(1)))
	f.kubelet.succeed(f.podOf("a"))
	f.untilComplete("a", 1, 0)
	f.setFinalizers(theirs)
	f.create(named("b", newJob(completions(1))))
	f.kubelet.succeed(f.podOf("b"))
	f.untilComplete("b", 1, 0)
	m.until(map[string]float64{
		"terminated_pods_tracking_finalizer_total{event=add}":                  2,
		"terminated_pods_tracking_finalizer_total{event=delete}":               2,
		"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}": 2,
	}, "terminated_pods_tracking_finalizer_total", "job_pods_finished_total")
}

// Pods, and failed creations, are counted by the reason for the creation.
// Requirements: PRP-17
func TestCreationsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	p := f.startController(m.counts)
	f.create(newJob(indexed(2), replacedWhen(batchv1.Failed)))
	f.kubelet.fail(f.untilActive(2)[0])
	f.untilCounts("a", counts{active: 2, failed: 1})
	failing := p.wire.reject(podPost, http.StatusForbidden)
	f.kubelet.fail(f.indexOfJob("a", 0))
	f.until("a creation has failed", func() bool { return failing.count() > 0 })
	failing.lift()
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 2)
	m.until(map[string]float64{
		"job_pods_creation_total{reason=new,status=succeeded}":             2,
		"job_pods_creation_total{reason=recreate_failed,status=succeeded}": 2,
		"job_pods_creation_total{reason=recreate_failed,status=failed}":    float64(failing.count()),
	}, "job_pods_creation_total")
}

// Indexes that leave an elastic Job and return are counted again: they ran again.
// Requirements: BLI-11, BLI-32
func TestIndexesThatReturnAreCountedAgain(t *testing.T) {
	t.Parallel()
	const metric = "job_finished_indexes_total"
	f := newFixture(t)
	m := f.newMeter()
	f.startController(m.counts)
	f.create(newJob(indexed(4), perIndexLimit(0), maxFailedIndexes(2)))
	f.untilActive(4)
	f.kubelet.fail(f.indexOfJob("a", 1), f.indexOfJob("a", 3))
	f.kubelet.succeed(f.indexOfJob("a", 2))
	f.untilIndexes("a", counts{active: 1, succeeded: 1, failed: 2}, "2", "1,3")
	before := map[string]float64{
		metric + "{backoffLimit=perIndex,status=succeeded}": 1, metric + "{backoffLimit=perIndex,status=failed}": 2,
	}
	m.until(before, metric)
	f.edit("a", map[string]any{"completions": 2, "parallelism": 2, "maxFailedIndexes": 2})
	f.untilIndexes("a", counts{active: 1, failed: 2}, "", "1")
	m.until(before, metric)
	f.edit("a", elastic(4))
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", "1")
	f.kubelet.succeed(f.indexOfJob("a", 2))
	f.untilIndexes("a", counts{active: 2, succeeded: 1, failed: 2}, "2", "1")
	m.until(map[string]float64{
		metric + "{backoffLimit=perIndex,status=succeeded}": 2, metric + "{backoffLimit=perIndex,status=failed}": 2,
	}, metric)
}

// meter reads the metrics of controllers.
type meter struct {
	f        *fixture
	registry kubemetrics.KubeRegistry
	metrics  *metrics.Metrics
}

func (f *fixture) newMeter() *meter {
	registry := kubemetrics.NewKubeRegistry()
	return &meter{f: f, registry: registry, metrics: metrics.New(registry, clock.RealClock{})}
}

func (m *meter) counts(c *controller.Config) { c.Metrics = m.metrics }

// read returns the nonzero series of the named metrics, without the prefix job_controller_, as name{label=value,…}.
func (m *meter) read(names ...string) map[string]float64 {
	m.f.t.Helper()
	families, err := m.registry.Gather()
	assert.NoError(m.f.t, err, "gathering metrics")
	series := map[string]float64{}
	for _, family := range families {
		name, ours := strings.CutPrefix(family.GetName(), "job_controller_")
		if !ours || !slices.Contains(names, name) {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if v := metric.GetCounter().GetValue(); v != 0 {
				series[name+"{"+strings.Join(labels, ",")+"}"] = v
			}
		}
	}
	return series
}

// until waits until the named metrics are exactly want.
func (m *meter) until(want map[string]float64, names ...string) {
	m.f.t.Helper()
	var got map[string]float64
	if !m.f.history.wait(func() bool {
		got = m.read(names...)
		return maps.Equal(got, want)
	}) {
		m.f.t.Fatalf("the metrics are %v, want %v", got, want)
	}
}
