package explain

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Labels of Kueue.
const (
	// KueueQueueLabel is on a Job, and names its LocalQueue.
	KueueQueueLabel = Kueue + "/queue-name"
	// KueueJobUIDLabel is on a Workload.
	KueueJobUIDLabel  = Kueue + "/job-uid"
	kueueJobNameLabel = Kueue + "/job-name"
	// kueuePrebuiltLabel is on a Job, and names a Workload that someone else made.
	kueuePrebuiltLabel = Kueue + "/prebuilt-workload-name"
)

// OfKueue reports whether Kueue decides when the Job runs.
func OfKueue(job *batchv1.Job) bool {
	return job.Labels[KueueQueueLabel] != "" || strings.HasPrefix(ptr.Deref(job.Spec.ManagedBy, ""), Kueue+"/")
}

// Workload is what Kueue has stored about a Job of one of its queues.
type Workload struct {
	Name  string
	Queue string
	// Inactive reports whether Kueue does not try to admit it: spec.active is false.
	Inactive   bool
	Conditions []Condition
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
func (w *Workload) Condition(kind string) *Condition {
	for i := range w.Conditions {
		if w.Conditions[i].Type == kind {
			return &w.Conditions[i]
		}
	}
	return nil
}

// WorkloadObject has the fields of a Workload that explanations read, as v1beta1 and v1beta2 of Kueue's API have them.
type WorkloadObject struct {
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
func (o *WorkloadObject) IsOf(job *batchv1.Job) bool {
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
	case labels[KueueJobUIDLabel] != "":
		return labels[KueueJobUIDLabel] == string(job.UID)
	case job.Labels[kueuePrebuiltLabel] != "":
		return job.Labels[kueuePrebuiltLabel] == o.Metadata.Name
	}
	return len(o.Metadata.OwnerReferences) == 0 && labels[kueueJobNameLabel] == job.Name
}

// Workload returns what an explanation needs of the object.
func (o *WorkloadObject) Workload() *Workload {
	w := &Workload{Name: o.Metadata.Name, Queue: o.Spec.QueueName, Inactive: !ptr.Deref(o.Spec.Active, true)}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		w.Conditions = append(w.Conditions, Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: cut(c.Message), Since: TimeOf(c.LastTransitionTime.Time),
		})
	}
	for _, check := range o.Status.AdmissionChecks {
		if check.State != "Ready" {
			check.Message = cut(check.Message)
			w.Checks = append(w.Checks, check)
		}
	}
	return w
}

// QueueHoldKind is why Kueue does not admit a Job.
type QueueHoldKind string

// The kinds.
const (
	HoldQuotaInUse      QueueHoldKind = "QuotaInUse"      // other Jobs use it
	HoldQuotaTooSmall   QueueHoldKind = "QuotaTooSmall"   // the Job requests more than there is
	HoldNoResource      QueueHoldKind = "NoResource"      // the ClusterQueue has no quota of a resource
	HoldBorrowingLimit  QueueHoldKind = "BorrowingLimit"  // of the ClusterQueue in its cohort
	HoldQueueMissing    QueueHoldKind = "QueueMissing"    // the LocalQueue or the ClusterQueue does not exist
	HoldQueueStopped    QueueHoldKind = "QueueStopped"    // the LocalQueue or the ClusterQueue is inactive
	HoldDeactivated     QueueHoldKind = "Deactivated"     // spec.active of the Workload is false
	HoldAdmissionChecks QueueHoldKind = "AdmissionChecks" // quota is reserved
	HoldOther           QueueHoldKind = "Other"           // what Message says
)

// QueueHold is why Kueue does not admit a Job, as the conditions of its Workload say.
type QueueHold struct {
	Kind     QueueHoldKind `json:"kind"`
	Workload string        `json:"workload"`
	// Resource and Flavor are what the quota is of. Missing is how much more is needed (QuotaInUse), and Most how much there is at
	// most (QuotaTooSmall), as Kueue writes it; "" if it does not.
	Resource string `json:"resource,omitempty"`
	Flavor   string `json:"flavor,omitempty"`
	Missing  string `json:"missing,omitempty"`
	Most     string `json:"most,omitempty"`
	// QueueKind is LocalQueue or ClusterQueue, and QueueName the name of the queue that is missing or stopped.
	QueueKind string `json:"queueKind,omitempty"`
	QueueName string `json:"queueName,omitempty"`
	// Checks are the admission checks that are not ready.
	Checks []AdmissionCheck `json:"checks,omitempty"`
	// Message is that of the condition.
	Message string `json:"message,omitempty"`
}
