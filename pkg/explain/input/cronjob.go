package input

import (
	"regexp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManualAnnotation is on Jobs that a user created from a CronJob, with kubectl create job --from.
const ManualAnnotation = "cronjob.kubernetes.io/instantiate"

// scheduledAnnotation is on Jobs that a CronJob created on its schedule, since Kubernetes 1.28.
const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

// scheduledName matches the name of such a Job after that of its CronJob: the time of the start in minutes.
var scheduledName = regexp.MustCompile(`^-\d{1,10}$`)

// IsManual reports whether a user created the Job from the template of a CronJob.
func IsManual(job metav1.Object) bool {
	if _, by := job.GetAnnotations()[ManualAnnotation]; by {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(job)
	if owner == nil || owner.Kind != "CronJob" {
		return false
	}
	_, scheduled := job.GetAnnotations()[scheduledAnnotation]
	return !scheduled && !scheduledName.MatchString(strings.TrimPrefix(job.GetName(), owner.Name))
}

// CronJob holds the data read about a CronJob.
type CronJob struct {
	Now             time.Time
	Namespace, Name string
	// CronJob is nil if it does not exist, or if it could not be read (see Gaps).
	CronJob *batchv1.CronJob
	// Events are the events about the CronJob itself.
	Events []Event
	// Jobs are the Jobs that the CronJob controls.
	Jobs []OwnedJob
	Gaps []Gap
}

// OwnedJob is a Job that a CronJob controls.
type OwnedJob struct {
	Name    string
	Created time.Time
	// Manual is set if a user created the Job from the template, see IsManual.
	Manual bool
	// Spec is the spec of its pods, nil if it is unknown.
	Spec *corev1.PodSpec
}
