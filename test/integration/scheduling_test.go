package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/utils/ptr"
)

// A Job that asks for gang scheduling gets no pods, which would start without their gang; an
// event reports that, and its deadline ends it.
func TestJobThatAsksForAGangGetsNoPods_JOB_64(t *testing.T) {
	t.Parallel()
	const said = "Warning SchedulingNotSupported x1: No pods are created: the Job requests workload-aware scheduling (spec.scheduling.schedulingPolicy.gang), which this controller does not support"
	f := newFixture(t)
	events, _ := f.eventClient()
	f.startController(events)
	gang := &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: ptr.To[int32](2)},
	}}
	stored := f.create(newJob(completions(2), parallelism(2), func(s *batchv1.JobSpec) { s.Scheduling = gang }))
	if s := stored.Spec.Scheduling; s == nil || s.SchedulingPolicy == nil || s.SchedulingPolicy.Gang == nil {
		t.Fatalf("the API server stored %+v", s)
	}
	f.untilTold(said)
	f.edit("a", map[string]any{"activeDeadlineSeconds": 1})
	f.untilFinished("a", batchv1.JobFailed, "DeadlineExceeded", 0, 0)
	f.wantPodsEver(0)
	const ended = "Warning DeadlineExceeded x1: Job was active longer than specified deadline"
	f.untilTold(ended)
	f.wantTold(said, ended)
}
