package input

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ManualAnnotation is on Jobs that a user created from a CronJob, with kubectl create job --from.
const ManualAnnotation = "cronjob.kubernetes.io/instantiate"

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
	// Manual is set if a user created the Job from the template, see ManualAnnotation.
	Manual bool
	// Spec is the spec of its pods, nil if it is unknown.
	Spec *corev1.PodSpec
}
