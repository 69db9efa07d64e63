package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: PND-02
func TestAutoscalersSayWhetherTheyAddNodes(t *testing.T) {
	type event struct{ source, reason, message string }
	for name, tc := range map[string]struct {
		event event
		want  Autoscaler // the zero value for nil
	}{
		"no larger nodes":    {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: 2 Insufficient memory"}, Autoscaler{By: ByClusterAutoscaler, Why: "2 Insufficient memory"}},
		"as before 1.22":     {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 max node group size reached"}, Autoscaler{By: ByClusterAutoscaler, Why: "1 max node group size reached", Kind: GroupAtMaximum, Groups: 1}},
		"without a reason":   {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: "}, Autoscaler{By: ByClusterAutoscaler}},
		"a node comes":       {event{"cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 5)}]"}, Autoscaler{By: ByClusterAutoscaler, Adds: true}},
		"Karpenter's node":   {event{"karpenter", "Nominated", "Pod should schedule on: nodeclaim/default-cvkcv"}, Autoscaler{By: ByKarpenter, Adds: true}},
		"Karpenter has none": {event{"karpenter", "FailedScheduling", `Failed to schedule pod, incompatible with nodepool "default", no instance type has enough resources`}, Autoscaler{By: ByKarpenter, Why: `incompatible with nodepool "default", no instance type has enough resources`, Kind: PoolsUnfit, Name: "default"}},
		"the scheduler":      {event{"default-scheduler", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."}, Autoscaler{}},
		"another event":      {event{"karpenter", "Evicted", "Evicted pod: Underutilized"}, Autoscaler{}},
	} {
		got := Autoscaler{}
		if a := OfAutoscaler(tc.event.source, tc.event.reason, tc.event.message); a != nil {
			got = *a
		}
		assert.Equal(t, got, tc.want, name)
	}
}

// Requirements: PND-02
func TestWhatAnAutoscalerLacksIsNamed(t *testing.T) {
	for message, want := range map[string]string{
		"pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 max limit reached": "1 node group is at maximum size",
		"pod didn't trigger scale-up: 2 in backoff after failed scale-up":                           "its last attempt failed (2 node groups in back-off)",
	} {
		a := OfAutoscaler(ByClusterAutoscaler, "NotTriggerScaleUp", message)
		advice, command := a.Advice()
		if text := "the cluster autoscaler adds no node: " + want; a.Text() != text || advice == "" || command == "" {
			t.Errorf("%s: %q, %q", message, a.Text(), advice)
		}
	}
	for message, want := range map[string]string{
		`Failed to schedule pod, all available instance types exceed limits for nodepool "graviton"`:    "NodePool graviton",
		`Could not schedule pod, all available instance types exceed limits for provisioner: "default"`: "NodePool default",
	} {
		a := OfAutoscaler(ByKarpenter, "FailedScheduling", message)
		if advice, _ := a.Advice(); a.Text() != "Karpenter adds no node: "+want+" has reached its limits" || advice != "raise spec.limits of "+want+", or wait until other pods end" {
			t.Errorf("%s: %q, %q", message, a.Text(), advice)
		}
	}
}
