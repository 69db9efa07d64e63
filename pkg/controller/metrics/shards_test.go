package metrics

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// One of several Runtimes of a process ends: only its pods are removed.
// Requirements: SHD-08
func TestShardsAreForgottenOneByOne(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	registry := metrics.NewKubeRegistry()
	m := New(registry, clocktesting.NewFakeClock(now))
	a, b := m.Scope(), m.Scope()
	a.FinalizerHeld(&reconcile.Pod{UID: "a", FinishedAt: now.Add(-time.Hour)}, true)
	b.FinalizerHeld(&reconcile.Pod{UID: "b", FinishedAt: now.Add(-time.Minute)}, true)
	for _, scoped := range []*Metrics{a, b} {
		scoped.PodRefused(types.UID("job"), errRefused, false)
	}
	want := func(age, refused float64) {
		t.Helper()
		assert.Equal(t, gauge(t, registry, "job_controller_oldest_uncounted_pod_age_seconds", ""), age, "the age of the oldest pod")
		assert.Equal(t, gauge(t, registry, "job_controller_jobs_refused_pods", "no_answer"), refused, "refused Jobs")
	}
	want(3600, 2)
	a.Close()
	want(60, 1)
	b.Close()
	want(0, 0)
}

// The gauges list the shards that this replica works on, and the shards that it does not.
// Requirements: SHD-08
func TestHeldShardsAreServed(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	m := New(registry, clocktesting.NewFakeClock(time.Time{}))
	m.SetShards(2)
	released := m.ShardTaken(1, func() int { return 30 })
	for name, want := range map[[2]string]float64{
		{"job_controller_shard_held", "0"}: 0, {"job_controller_shard_held", "1"}: 1,
		{"job_controller_shard_pods", "1"}: 30, {"job_controller_shards_taken_total", ""}: 1,
	} {
		assert.Equal(t, gauge(t, registry, name[0], name[1]), want, name)
	}
	released()
	assert.Equal(t, gauge(t, registry, "job_controller_shard_held", "1"), 0, "a released shard is held")
}

var errRefused = errors.New("refused")

// gauge returns the value of a metric, with that value of its only label, if it has one.
func gauge(t *testing.T, registry metrics.KubeRegistry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	assert.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	t.Errorf("there is no %s{%s}", name, label)
	return 0
}
