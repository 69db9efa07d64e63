package reconcile

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// groupTemplateAnnotation, on a Job with a controlling owner, asks the Job controller to
// create a PodGroup for the Job's pods from that template of the owner's Workload.
const groupTemplateAnnotation = "scheduling.k8s.io/group-template-name"

// ReasonSchedulingNotSupported is the reason of the event about a Job that requires a PodGroup.
const ReasonSchedulingNotSupported = "SchedulingNotSupported"

// UnsupportedScheduling returns the fields of the Job that require a PodGroup, which this controller does not create;
// "" if there are none. Pods whose template names a group need no other PodGroup (JOB-64), and neither does a
// configuration that schedules pods one at a time.
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

// schedulingFields returns the fields that require more than scheduling and disrupting pods one by one.
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
