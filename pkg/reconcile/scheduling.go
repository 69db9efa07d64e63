package reconcile

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// groupTemplateAnnotation on a Job with a controlling owner asks whoever runs the Job to make
// a PodGroup from that template of the owner's Workload, for the Job's pods to join.
const groupTemplateAnnotation = "scheduling.k8s.io/group-template-name"

// ReasonSchedulingNotSupported is the reason of the event about such a Job.
const ReasonSchedulingNotSupported = "SchedulingNotSupported"

// UnsupportedScheduling names what the Job asks for that takes a PodGroup, which this
// controller does not make; "" if there is nothing. Pods that come with a group of their own
// need none (JOB-64), and a scheduling configuration that amounts to one pod at a time is
// what any pod gets.
func UnsupportedScheduling(job *batchv1.Job) string {
	if job.Spec.Template.Spec.SchedulingGroup != nil {
		return ""
	}
	var asked []string
	if s := job.Spec.Scheduling; s != nil {
		asked = schedulingFields(s)
	}
	if job.Annotations[groupTemplateAnnotation] != "" && metav1.GetControllerOfNoCopy(job) != nil {
		asked = append(asked, "annotation "+groupTemplateAnnotation)
	}
	return strings.Join(asked, ", ")
}

// schedulingFields are the fields that ask for more than pods that are scheduled, and
// disrupted, one by one.
func schedulingFields(s *batchv1.JobSchedulingConfiguration) []string {
	var fields []string
	if s.SchedulingPolicy != nil && s.SchedulingPolicy.Gang != nil {
		fields = append(fields, "spec.scheduling.schedulingPolicy.gang")
	}
	if s.SchedulingConstraints != nil && len(s.SchedulingConstraints.Topology) > 0 {
		fields = append(fields, "spec.scheduling.schedulingConstraints.topology")
	}
	if s.DisruptionMode != nil && s.DisruptionMode.All != nil {
		fields = append(fields, "spec.scheduling.disruptionMode.all")
	}
	if len(s.ResourceClaims) > 0 {
		fields = append(fields, "spec.scheduling.resourceClaims")
	}
	return fields
}

// noteScheduling reports whether the Job's pods would lose what it asks for, and says so.
// It then gets none: pods of a gang that start one by one may hold what the others wait for.
func (s *state) noteScheduling() bool {
	if s.cfg.SchedulingDone {
		return false
	}
	s.plan.Findings.UnsupportedScheduling = UnsupportedScheduling(s.job)
	return s.plan.Findings.UnsupportedScheduling != ""
}
