package meaning

import (
	"testing"
)

// Requirements: PND-02
func TestAutoscalersSayWhetherTheyAddNodes(t *testing.T) {
	type event struct{ source, reason, message string }
	for name, tc := range map[string]struct {
		event event
		want  Autoscaler // the zero value for nil
	}{
		"no larger nodes":    {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: 2 Insufficient memory"}, Autoscaler{By: ByClusterAutoscaler, Why: "2 Insufficient memory"}},
		"as before 1.22":     {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 max node group size reached"}, Autoscaler{By: ByClusterAutoscaler, Why: "1 max node group size reached"}},
		"without a reason":   {event{"cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: "}, Autoscaler{By: ByClusterAutoscaler}},
		"a node comes":       {event{"cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 5)}]"}, Autoscaler{By: ByClusterAutoscaler, Adds: true}},
		"Karpenter's node":   {event{"karpenter", "Nominated", "Pod should schedule on: nodeclaim/default-cvkcv"}, Autoscaler{By: ByKarpenter, Adds: true}},
		"Karpenter has none": {event{"karpenter", "FailedScheduling", `Failed to schedule pod, incompatible with nodepool "default", no instance type has enough resources`}, Autoscaler{By: ByKarpenter, Why: `incompatible with nodepool "default", no instance type has enough resources`}},
		"the scheduler":      {event{"default-scheduler", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."}, Autoscaler{}},
		"another event":      {event{"karpenter", "Evicted", "Evicted pod: Underutilized"}, Autoscaler{}},
	} {
		got := Autoscaler{}
		if a := OfAutoscaler(tc.event.source, tc.event.reason, tc.event.message); a != nil {
			got = *a
		}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
