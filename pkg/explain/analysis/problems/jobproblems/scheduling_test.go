package jobproblems_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// gangJob returns a Job that requests gang scheduling, and whose startTime is set by its controller.
func gangJob(managedBy *string) *batchv1.Job {
	return explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ManagedBy = managedBy
		j.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
		}}
	})
}

// JOB-64, CLI-06: the report says that a Job gets no pods because no controller creates its PodGroup, even if pods may not
// be read, and announces no pods.
func TestMissingPodGroupIsReported(t *testing.T) {
	const sentence = "The Job is stalled: no pods are created, because the Job requests workload-aware scheduling (spec.scheduling.schedulingPolicy.gang), which controller "
	f := explaintest.InputOf(gangJob(ptr.To(recorded.OurName)))
	for _, f.PodsRead = range []bool{true, false} {
		r := explaintest.Report(f)
		if p := explaintest.Problem(t, r, explain.ProblemNoPodGroup); !p.Blocks || !r.Verdict.Stalled || explaintest.Verdict(r) != sentence+recorded.OurName+" does not support." {
			t.Errorf("pods read: %t, %+v, %+v", f.PodsRead, p, r.Verdict)
		}
		explaintest.WantText(t, r, "without managedBy", "named in spec.template.spec.schedulingGroup", "scheduled one by one")
		explaintest.WantWithout(t, r, "2 pods are created", "nothing, until")
	}
	// A pod that exists nevertheless is running.
	f.PodsRead, f.Pods = true, []*input.Pod{explaintest.PodOf("a", nil)}
	explaintest.WantText(t, explaintest.Report(f), "The Job is running: 0 of 3 pods succeeded, 1 pod is active; but no pods are created")
	for name, job := range map[string]*batchv1.Job{
		"ended": gangJob(ptr.To(recorded.OurName)), "of the built-in controller": gangJob(nil),
		"with a group of its own": gangJob(ptr.To(recorded.OurName)),
	} {
		switch name {
		case "ended":
			explaintest.FailJob(job, "DeadlineExceeded", "")
		case "with a group of its own":
			job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("mine")}
		}
		if r := explaintest.Report(explaintest.InputOf(job)); explaintest.HasProblem(r, explain.ProblemNoPodGroup) {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
	// Our controller replaces the built-in one.
	f = explaintest.InputOf(gangJob(nil))
	f.Events = []input.Event{explaintest.JobEvent("SchedulingNotSupported", "No pods are created", 1, time.Minute)}
	explaintest.WantText(t, explaintest.Report(f), "which its controller does not support")
}
