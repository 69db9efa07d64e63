package reconcile

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func scheduled(s batchv1.JobSchedulingConfiguration) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Scheduling = &s }
}

var gang = scheduled(batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
	Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
}})

func delegated(j *batchv1.Job) {
	j.Annotations = map[string]string{groupTemplateAnnotation: "workers"}
}

func ownedBySet(j *batchv1.Job) {
	j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", Controller: ptr.To(true)}}
}

// JOB-64: a Job whose pods would lack the PodGroup that it requires gets no pods, and a finding contains the fields
// that require it. A configuration that schedules pods one by one does not hold them back.
func TestUnsupportedSchedulingHoldsPodsBack(t *testing.T) {
	policy := func(p schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy) func(*batchv1.Job) {
		return scheduled(batchv1.JobSchedulingConfiguration{SchedulingPolicy: &p})
	}
	mode := func(m schedulingv1alpha3.WorkloadPodGroupDisruptionMode) func(*batchv1.Job) {
		return scheduled(batchv1.JobSchedulingConfiguration{DisruptionMode: &m})
	}
	topology := []schedulingv1alpha3.TopologyConstraint{{}}
	for name, test := range map[string]struct {
		job   *observed
		asked string
	}{
		"nothing":             {observeJob(), ""},
		"empty":               {observeJob(scheduled(batchv1.JobSchedulingConfiguration{})), ""},
		"basic":               {observeJob(policy(schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Basic: &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{}})), ""},
		"gang":                {observeJob(gang), "spec.scheduling.schedulingPolicy.gang"},
		"no topology":         {observeJob(scheduled(batchv1.JobSchedulingConfiguration{SchedulingConstraints: &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{}})), ""},
		"topology":            {observeJob(scheduled(batchv1.JobSchedulingConfiguration{SchedulingConstraints: &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{Topology: topology}})), "spec.scheduling.schedulingConstraints.topology"},
		"disrupted singly":    {observeJob(mode(schedulingv1alpha3.WorkloadPodGroupDisruptionMode{Single: &schedulingv1alpha3.WorkloadPodGroupSingleDisruptionMode{}})), ""},
		"disrupted together":  {observeJob(mode(schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}})), "spec.scheduling.disruptionMode.all"},
		"claims":              {observeJob(scheduled(batchv1.JobSchedulingConfiguration{ResourceClaims: []schedulingv1alpha3.WorkloadPodGroupResourceClaim{{Name: "gpu"}}})), "spec.scheduling.resourceClaims"},
		"a group of its own":  {observeJob(gang, func(j *batchv1.Job) { j.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} }), ""},
		"delegated":           {observeJob(delegated, ownedBySet), "annotation scheduling.k8s.io/group-template-name"},
		"delegated by nobody": {observeJob(delegated), ""},
		"owned":               {observeJob(ownedBySet), ""},
		"both":                {observeJob(gang, delegated, ownedBySet), "spec.scheduling.schedulingPolicy.gang, annotation scheduling.k8s.io/group-template-name"},
	} {
		plan := test.job.compute()
		if f := plan.Findings.UnsupportedScheduling; f != test.asked || (test.asked != "") != (len(plan.Create) == 0) {
			t.Errorf("%s: %d pods are created, found %q", name, len(plan.Create), f)
		}
	}
	o := observeJob(gang)
	o.config.SchedulingDone = true
	if plan := o.compute(); len(plan.Create) != 1 || plan.Findings.UnsupportedScheduling != "" {
		t.Errorf("somebody else sees to it: %+v", plan)
	}
}

// JOB-64: pods that exist anyway are counted and released, and the Job ends by its own rules.
func TestUnsupportedSchedulingHoldsNothingElse(t *testing.T) {
	plan := observeJob(gang, sized(3, 3)).with("done", succeededPod(time.Minute)).with("lost", failedPod(1, time.Hour)).with("runs").compute()
	if u := plan.Status.UncountedTerminatedPods; len(u.Succeeded) != 1 || len(u.Failed) != 1 || plan.Status.Active != 1 || len(plan.Create) > 0 {
		t.Errorf("%+v", plan)
	}
	for name, o := range map[string]*observed{
		"DeadlineExceeded":     observeJob(gang, func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](60) }),
		"BackoffLimitExceeded": observeJob(gang, backoffLimit(0)).with("lost", failedPod(1, time.Hour)),
		"CompletionsReached":   observeJob(gang).with("done", succeededPod(time.Minute)),
	} {
		if _, reason, _ := fateOf(o.compute()); reason != name {
			t.Errorf("%s: %q", name, reason)
		}
	}
	plan = observeJob(gang, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }).with("runs").compute()
	if len(plan.Release) != 1 || plan.Findings.UnsupportedScheduling == "" {
		t.Errorf("suspended: %+v", plan)
	}
	plan = observeJob(gang, func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }).with("runs").compute()
	if len(plan.Release) != 1 || plan.Findings.UnsupportedScheduling != "" {
		t.Errorf("deleted: %+v", plan)
	}
}
