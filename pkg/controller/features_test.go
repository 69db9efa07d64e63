package controller

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// PFN-09, BLI-34, PRP-18, SUC-19: each gate switches its own feature, and all are on
// unless told otherwise.
func TestFeatureGates(t *testing.T) {
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
		"AllBeta=false":                 {},
		"JobSuccessPolicy=false,JobSuccessPolicy=true": reconcile.AllFeatures(),
	} {
		gate := NewFeatureGate()
		if value != "" {
			if err := gate.Set(value); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
		}
		c := Config{FeatureGate: gate}
		c.setDefaults()
		if c.Limits.Features != want {
			t.Errorf("%q: got %+v, want %+v", value, c.Limits.Features, want)
		}
	}
	c := Config{}
	c.setDefaults()
	if c.Limits.Features != reconcile.AllFeatures() {
		t.Errorf("without a gate: %+v", c.Limits.Features)
	}
	// PFP-17: podFailurePolicy has no switch, as in Kubernetes since 1.31.
	for _, unknown := range []string{"JobManagedBy=false", "JobPodFailurePolicy=false"} {
		if err := NewFeatureGate().Set(unknown); err == nil {
			t.Errorf("%s is accepted", unknown)
		}
	}
}
