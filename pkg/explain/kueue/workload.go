// Package kueue reads what Kueue has stored about a Job of one of its queues, and why it does not admit the Job. It is pure, and
// decodes the versions v1beta1 and v1beta2 of Kueue's API without its types.
package kueue

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Names of Kueue.
const (
	// Group is its API group, and Workloads the resource that has why a Job is not admitted.
	Group     = "kueue.x-k8s.io"
	Workloads = "workloads." + Group
	// QueueLabel is on a Job, and names its LocalQueue.
	QueueLabel   = Group + "/queue-name"
	jobUIDLabel  = Group + "/job-uid"
	jobNameLabel = Group + "/job-name"
	// prebuiltLabel is on a Job, and names a Workload that someone else made.
	prebuiltLabel = Group + "/prebuilt-workload-name"
)

// Manages reports whether Kueue decides when the Job runs.
func Manages(job *batchv1.Job) bool {
	return job.Labels[QueueLabel] != "" || strings.HasPrefix(ptr.Deref(job.Spec.ManagedBy, ""), Group+"/")
}

// Workload is what Kueue has stored about a Job of one of its queues.
type Workload struct {
	Name  string
	Queue string
	// Inactive reports whether Kueue does not try to admit it: spec.active is false.
	Inactive   bool
	Conditions []metav1.Condition
	// Checks are the admission checks that are not Ready, with their states.
	Checks []AdmissionCheck
}

// AdmissionCheck is a check that Kueue waits for after it has reserved quota.
type AdmissionCheck struct {
	Name    string `json:"name"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
}

// Condition returns the condition of the type, nil if there is none.
func (w *Workload) Condition(kind string) *metav1.Condition {
	for i := range w.Conditions {
		if w.Conditions[i].Type == kind {
			return &w.Conditions[i]
		}
	}
	return nil
}

// Object has the fields of a Workload that explanations read, as v1beta1 and v1beta2 of Kueue's API have them.
type Object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		QueueName string `json:"queueName"`
		Active    *bool  `json:"active"`
	} `json:"spec"`
	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		AdmissionChecks []AdmissionCheck   `json:"admissionChecks"`
	} `json:"status"`
}

// IsOf reports whether the Workload is that of the Job: by its owner, by the label of the Job, or by its own labels.
func (o *Object) IsOf(job *batchv1.Job) bool {
	if o.Metadata.Namespace != job.Namespace {
		return false
	}
	for i := range o.Metadata.OwnerReferences {
		if owner := &o.Metadata.OwnerReferences[i]; owner.Kind == "Job" && owner.UID == job.UID {
			return true
		}
	}
	labels := o.Metadata.Labels
	switch {
	case labels[jobUIDLabel] != "":
		return labels[jobUIDLabel] == string(job.UID)
	case job.Labels[prebuiltLabel] != "":
		return job.Labels[prebuiltLabel] == o.Metadata.Name
	}
	return len(o.Metadata.OwnerReferences) == 0 && labels[jobNameLabel] == job.Name
}

// Workload returns what an explanation needs of the object.
func (o *Object) Workload() *Workload {
	w := &Workload{Name: o.Metadata.Name, Queue: o.Spec.QueueName, Inactive: !ptr.Deref(o.Spec.Active, true)}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		c.Message = cut(c.Message)
		w.Conditions = append(w.Conditions, *c)
	}
	for _, check := range o.Status.AdmissionChecks {
		if check.State != "Ready" {
			check.Message = cut(check.Message)
			w.Checks = append(w.Checks, check)
		}
	}
	return w
}

// JobSelector selects the Workload of the Job by its label.
func JobSelector(job *batchv1.Job) string { return jobUIDLabel + "=" + string(job.UID) }

// maxMessage is how much of a message is kept, in bytes: a Workload may have messages of 32 KiB.
const maxMessage = 1024

func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
