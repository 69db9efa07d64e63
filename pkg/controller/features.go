package controller

import (
	"fmt"

	"k8s.io/component-base/featuregate"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Features of --feature-gates. They have the names of the Kubernetes feature gates, but apply to our Jobs only, not to
// the fields that the API server accepts.
const (
	// PodFailurePolicyName: the reason of FailJob names the rule that matched (KEP-4443).
	PodFailurePolicyName featuregate.Feature = "PodFailurePolicyName"
	// JobBackoffLimitPerIndex: spec.backoffLimitPerIndex, spec.maxFailedIndexes and the
	// action FailIndex (KEP-3850).
	JobBackoffLimitPerIndex featuregate.Feature = "JobBackoffLimitPerIndex"
	// JobPodReplacementPolicy: spec.podReplacementPolicy and status.terminating (KEP-3939).
	JobPodReplacementPolicy featuregate.Feature = "JobPodReplacementPolicy"
	// JobSuccessPolicy: spec.successPolicy, and the reason CompletionsReached (KEP-3998).
	JobSuccessPolicy featuregate.Feature = "JobSuccessPolicy"
	// JobManagedBy: spec.managedBy (KEP-4368). If disabled, the field is ignored, which
	// only makes sense in place of the built-in controller; if JobPodReplacementPolicy is
	// disabled too, Jobs finish as they did before SuccessCriteriaMet.
	JobManagedBy featuregate.Feature = "JobManagedBy"
)

// NewFeatureGate returns a gate with all features enabled. Kubernetes has locked four of them to enabled; here each can
// be disabled, for clusters that have to roll back.
func NewFeatureGate() featuregate.MutableFeatureGate {
	gate := featuregate.NewFeatureGate()
	err := gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		PodFailurePolicyName:    {Default: true, PreRelease: featuregate.Beta},
		JobBackoffLimitPerIndex: {Default: true, PreRelease: featuregate.Beta},
		JobPodReplacementPolicy: {Default: true, PreRelease: featuregate.Beta},
		JobSuccessPolicy:        {Default: true, PreRelease: featuregate.Beta},
		JobManagedBy:            {Default: true, PreRelease: featuregate.Beta},
	})
	if err != nil {
		panic(fmt.Sprintf("feature gates: %v", err)) // Only for a duplicate name.
	}
	return gate
}

// featuresOf returns the features that the gate enables, for the decision core.
func featuresOf(gate featuregate.FeatureGate) reconcile.Features {
	return reconcile.Features{
		RuleNames:            gate.Enabled(PodFailurePolicyName),
		BackoffLimitPerIndex: gate.Enabled(JobBackoffLimitPerIndex),
		PodReplacementPolicy: gate.Enabled(JobPodReplacementPolicy),
		SuccessPolicy:        gate.Enabled(JobSuccessPolicy),
		ManagedBy:            gate.Enabled(JobManagedBy),
	}
}
