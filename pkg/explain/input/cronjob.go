package input

import (
	"regexp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// ManualAnnotation is on Jobs that a user created from a CronJob, with kubectl create job --from.
const ManualAnnotation = "cronjob.kubernetes.io/instantiate"

// scheduledAnnotation is on Jobs that a CronJob created on its schedule, since Kubernetes 1.28.
const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

// scheduledName matches the name of such a Job after that of its CronJob: the time of the start in minutes.
var scheduledName = regexp.MustCompile(`^-\d{1,10}$`)

// OwnerOf returns the owner of a Job or CronJob: its controller, or else a CronJob that does not control the Job, as a user created the Job
// from its template; nil if there is none.
func OwnerOf(object metav1.Object) *metav1.OwnerReference {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return owner
	}
	return lists.First(object.GetOwnerReferences(), func(r *metav1.OwnerReference) bool {
		return r.Kind == "CronJob" && strings.HasPrefix(r.APIVersion, batchv1.GroupName+"/")
	})
}

// IsManual reports whether a user created the Job from the template of a CronJob.
func IsManual(job metav1.Object) bool {
	if _, by := job.GetAnnotations()[ManualAnnotation]; by {
		return true
	}
	owner := OwnerOf(job)
	if owner == nil || owner.Kind != "CronJob" {
		return false
	}
	if !ptr.Deref(owner.Controller, false) {
		return true
	}
	_, scheduled := job.GetAnnotations()[scheduledAnnotation]
	return !scheduled && !scheduledName.MatchString(strings.TrimPrefix(job.GetName(), owner.Name))
}

// ScheduledFor returns the time for which a CronJob scheduled the Job, from its annotation; zero for other Jobs.
func ScheduledFor(job metav1.Object) time.Time {
	at, err := time.Parse(time.RFC3339, job.GetAnnotations()[scheduledAnnotation])
	if owner := metav1.GetControllerOfNoCopy(job); err != nil || owner == nil || owner.Kind != "CronJob" {
		return time.Time{}
	}
	return at
}

// LateStart is the time after which a start is late: a controller that runs starts a Job within seconds.
const LateStart = 10 * time.Minute

// CronJob holds the data read about a CronJob.
type CronJob struct {
	Now             time.Time
	Namespace, Name string
	// CronJob is nil if it does not exist, or if it could not be read (see Gaps).
	CronJob *batchv1.CronJob
	// Events are the events about the CronJob itself.
	Events []Event
	// Jobs are the Jobs that the CronJob owns.
	Jobs []OwnedJob
	Gaps []Gap
}

// OwnedJob is a Job that a CronJob owns.
type OwnedJob struct {
	Name    string
	Created time.Time
	// Scheduled is the time for which the CronJob scheduled the Job, zero if it is unknown.
	Scheduled time.Time
	// Manual is set if a user created the Job from the template, see IsManual, and Uncontrolled if the CronJob does not control it, either.
	Manual, Uncontrolled bool
	// Ended is set if the Job has finished, by its report.
	Ended bool
	// Spec is the spec of its pods, nil if it is unknown.
	Spec *corev1.PodSpec
}
