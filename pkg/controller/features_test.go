package controller

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	kubemetrics "k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// PFN-09, BLI-34, PRP-18, SUC-19: each gate switches its own feature, and all are enabled by default.
func TestEachGateSwitchesItsFeature(t *testing.T) {
	without := func(change func(*reconcile.Features)) reconcile.Features {
		f := reconcile.AllFeatures()
		change(&f)
		return f
	}
	for value, want := range map[string]reconcile.Features{
		"":                              reconcile.AllFeatures(),
		"PodFailurePolicyName=false":    without(func(f *reconcile.Features) { f.RuleNames = false }),
		"JobBackoffLimitPerIndex=false": without(func(f *reconcile.Features) { f.BackoffLimitPerIndex = false }),
		"JobPodReplacementPolicy=false": without(func(f *reconcile.Features) { f.PodReplacementPolicy = false }),
		"JobSuccessPolicy=false":        without(func(f *reconcile.Features) { f.SuccessPolicy = false }),
		"JobManagedBy=false":            without(func(f *reconcile.Features) { f.ManagedBy = false }),
		"AllBeta=false":                 {},
		"JobSuccessPolicy=false,JobSuccessPolicy=true": reconcile.AllFeatures(),
	} {
		gate := NewFeatureGate()
		if value != "" {
			assert.NoError(t, gate.Set(value), value)
		}
		c := Config{FeatureGate: gate}
		c.setDefaults()
		assert.Equal(t, c.Limits.Features, want, value)
	}
	c := Config{}
	c.setDefaults()
	assert.Equal(t, c.Limits.Features, reconcile.AllFeatures(), "without a gate")
	// PFP-17: podFailurePolicy has no switch, as in Kubernetes since 1.31.
	if err := NewFeatureGate().Set("JobPodFailurePolicy=false"); err == nil {
		t.Error("JobPodFailurePolicy=false is accepted")
	}
}

// MGB-02: without spec.managedBy, every Job is ours if we replace the built-in controller; otherwise no Job is ours,
// which is an error.
func TestEveryJobIsOursWithoutManagedBy(t *testing.T) {
	gate := NewFeatureGate()
	assert.NoError(t, gate.Set("JobManagedBy=false"))
	instead := Config{FeatureGate: gate, ReplaceBuiltin: true}
	assert.NoError(t, instead.Validate())
	instead.setDefaults()
	if !instead.owns(&batchv1.Job{Spec: batchv1.JobSpec{ManagedBy: ptr.To("example.com/x")}}) {
		t.Error("the field is looked at")
	}
	if err := (Config{FeatureGate: gate}).Validate(); err == nil || !strings.Contains(err.Error(), "--replace-builtin") {
		t.Errorf("beside the built-in controller: %v", err)
	}
}

// MGB-12: if we replace the built-in controller, Jobs of other external controllers are counted, each once.
func TestJobsOfOthersAreCountedOnce(t *testing.T) {
	for _, replace := range []bool{true, false} {
		registry := kubemetrics.NewKubeRegistry()
		_, cache := NewDispatcher(Config{ReplaceBuiltin: replace, Metrics: metrics.New(registry, clocktesting.NewFakePassiveClock(testTime))}, &fakeQueue{})
		for version, by := range map[string]*string{"1": nil, "2": ptr.To("example.com/x"), "3": ptr.To("example.com/x"), "4": ptr.To(DefaultManagedBy)} {
			job := ourJob(1)
			job.UID, job.ResourceVersion, job.Spec.ManagedBy = types.UID("uid-"+version), version, by
			for range 2 {
				assert.NoError(t, cache.JobStore("").Update(job))
			}
		}
		want := map[bool]float64{true: 2}[replace]
		assert.Equalf(t, valueOf(t, registry, "jobs_by_external_controller_total"), want, "replacing %v", replace)
	}
}

// valueOf returns the sum of a counter's values.
func valueOf(t *testing.T, registry kubemetrics.KubeRegistry, name string) (sum float64) {
	t.Helper()
	families, err := registry.Gather()
	assert.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "job_controller_"+name {
			for _, m := range family.Metric {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
