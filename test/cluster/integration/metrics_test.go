package integration

import (
	"maps"
	"slices"
	"strings"

	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

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
