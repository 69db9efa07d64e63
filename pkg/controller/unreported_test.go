package controller

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// PFP-07, ADR 0012: the versions of a pod that a busy kubelet ends at its activeDeadlineSeconds:
// first the phase, while its container is still said to run, and then how that ended. The rule
// for the exit code is found; and where nothing more comes, the failure counts after a while.
func TestLateExitCodesAreEvaluated_PFP_07(t *testing.T) {
	for _, comes := range []bool{true, false} {
		f, _ := newTalkingCluster(t)
		job := ourJob(1)
		job.Spec.BackoffLimit = ptr.To[int32](0)
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailJob, 42)}}
		f.addJob(job)
		f.addPods(failedPod("p", running("main", 0, nil)))
		for range 2 {
			if err := f.sync(); err != nil {
				t.Fatal(err)
			}
			if status := f.cache.Job("uid").Status; len(status.Conditions) > 0 || len(status.UncountedTerminatedPods.Failed) > 0 {
				t.Errorf("too early: %+v", status)
			}
			f.clock.Step(10 * time.Second)
		}
		want := "BackoffLimitExceeded"
		if comes {
			want = "PodFailurePolicy_0"
			late := failedPod("p", exited("main", 42, "Error"))
			late.ResourceVersion = "200"
			f.addPods(late)
		} else {
			f.clock.Step(10 * time.Second)
		}
		if err := f.sync(); err != nil {
			t.Fatal(err)
		}
		if c := reconcile.TrueCondition(f.cache.Job("uid"), batchv1.JobFailureTarget); c == nil || c.Reason != want {
			t.Errorf("%+v, want %s", f.cache.Job("uid").Status, want)
		}
		if n := len(f.engine.memory.get("uid").unreportedSince); n > 0 {
			t.Errorf("%d pods are remembered", n)
		}
	}
}
