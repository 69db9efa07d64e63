package explain

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Aliveness reports whether a controller is running.
type Aliveness string

// The values of Aliveness.
const (
	Alive            Aliveness = "Alive"
	NotAlive         Aliveness = "NotAlive"
	AlivenessUnknown Aliveness = "Unknown"
)

// Sign is the evidence for Aliveness.
type Sign string

// The signs.
const (
	SignNeverWorked  Sign = "NeverWorked"  // no controller has worked on the Job
	SignLeaseExpired Sign = "LeaseExpired" // LeaseRenewed is longer ago than the duration of the Lease
	SignLeaseHeld    Sign = "LeaseHeld"    // LeaseHolder holds the Lease
	SignLeaseUnclear Sign = "LeaseUnclear" // only one of Lease and OtherLease is held, and a user may have created either
	SignOverdue      Sign = "Overdue"      // Overdue ended pods are not recorded, since OverdueSince
	SignLastWrite    Sign = "LastWrite"    // the last write of the status, at LastWrite
	SignNone         Sign = "None"
)

// Field managers of the controllers that may run a Job of the built-in controller.
const (
	OurFieldManager     = reconcile.FieldManager // with --replace-builtin
	builtInFieldManager = "kube-controller-manager"
)

// ReplacesBuiltIn reports whether this project's controller runs a Job of the built-in controller: of the two, it wrote the
// status last.
func ReplacesBuiltIn(job *batchv1.Job) bool {
	if name := ptr.Deref(job.Spec.ManagedBy, ""); name != "" && name != BuiltInManagedBy {
		return false
	}
	var last *metav1.ManagedFieldsEntry
	for i := range job.ManagedFields {
		f := &job.ManagedFields[i]
		known := f.Manager == OurFieldManager || f.Manager == builtInFieldManager
		if known && f.Subresource == "status" && f.Time != nil && (last == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	return last != nil && last.Manager == OurFieldManager
}

// LeasedBy returns the managedBy value that identifies the Lease of the Job's controller; "" for the built-in controller.
// ourName is the managedBy value of this project's controller.
func LeasedBy(job *batchv1.Job, ourName string) string {
	name := ptr.Deref(job.Spec.ManagedBy, "")
	switch {
	case ReplacesBuiltIn(job):
		return ourName
	case name == BuiltInManagedBy:
		return ""
	}
	return name
}

// Name returns the name of the controller that runs the Job; "" for the built-in controller.
func (r *Reconciler) Name() string {
	if r.ManagedBy == "" || r.ManagedBy == BuiltInManagedBy {
		return r.Program
	}
	return r.ManagedBy
}

// Reconciler describes the controller that runs the Job.
type Reconciler struct {
	// ManagedBy is the managedBy value of the Job; "" for the built-in controller. Ours is set for the default name of this
	// project's controller.
	ManagedBy string `json:"managedBy,omitempty"`
	Ours      bool   `json:"ours,omitempty"`
	// Program is the controller that runs the Job in place of the built-in controller; "" if there is none.
	Program string    `json:"program,omitempty"`
	Alive   Aliveness `json:"alive"`
	// Sign is the evidence for Alive, and Text describes it in one line.
	Sign Sign   `json:"sign"`
	Text string `json:"text"`
	// Manager is the field manager that last wrote the status, at LastWrite.
	Manager   string       `json:"manager,omitempty"`
	LastWrite *metav1.Time `json:"lastWrite,omitempty"`
	// LeaseHolder is the holder of the controller's Lease, which was last renewed at LeaseRenewed.
	LeaseHolder  string       `json:"leaseHolder,omitempty"`
	LeaseRenewed *metav1.Time `json:"leaseRenewed,omitempty"`
	// Lease is the namespace/name of the Lease.
	Lease string `json:"lease,omitempty"`
	// OtherLease is the namespace/name of a Lease in another namespace that contradicts Lease, OtherHolder its holder.
	OtherLease   string       `json:"otherLease,omitempty"`
	OtherHolder  string       `json:"otherHolder,omitempty"`
	OtherRenewed *metav1.Time `json:"otherRenewed,omitempty"`
	// Overdue is the number of ended pods that should have been recorded since OverdueSince.
	Overdue      int32        `json:"overdue,omitempty"`
	OverdueSince *metav1.Time `json:"overdueSince,omitempty"`
}
