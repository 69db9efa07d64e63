package eventtext

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Requirements: PND-02
func TestAutoscalersSayWhetherTheyAddNodes(t *testing.T) {
	event := func(source, reason, message string) input.Event {
		return input.Event{Pod: "a", Source: source, Reason: reason, Message: message}
	}
	for name, tc := range map[string]struct {
		event input.Event
		want  explain.Autoscaler // the zero value for nil
	}{
		"no larger nodes":       {event("cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: 2 Insufficient memory"), explain.Autoscaler{By: explain.ByClusterAutoscaler, Why: "2 Insufficient memory"}},
		"as before 1.22":        {event("cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 max node group size reached"), explain.Autoscaler{By: explain.ByClusterAutoscaler, Why: "1 max node group size reached"}},
		"without a reason":      {event("cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: "), explain.Autoscaler{By: explain.ByClusterAutoscaler}},
		"a node comes":          {event("cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 5)}]"), explain.Autoscaler{By: explain.ByClusterAutoscaler, Adds: true}},
		"Karpenter's node":      {event("karpenter", "Nominated", "Pod should schedule on: nodeclaim/default-cvkcv"), explain.Autoscaler{By: explain.ByKarpenter, Adds: true}},
		"Karpenter has none":    {event("karpenter", "FailedScheduling", `Failed to schedule pod, incompatible with nodepool "default", no instance type has enough resources`), explain.Autoscaler{By: explain.ByKarpenter, Why: `incompatible with nodepool "default", no instance type has enough resources`}},
		"the scheduler":         {event("default-scheduler", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."), explain.Autoscaler{}},
		"another event":         {event("karpenter", "Evicted", "Evicted pod: Underutilized"), explain.Autoscaler{}},
		"an event of the Job's": {input.Event{Reason: "TriggeredScaleUp"}, explain.Autoscaler{}},
	} {
		got := explain.Autoscaler{}
		if a := AutoscalerOf(&tc.event); a != nil {
			got = *a
		}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
