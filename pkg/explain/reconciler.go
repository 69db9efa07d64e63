package explain

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Aliveness is whether a controller is running.
type Aliveness string

// Whether it is running.
const (
	Alive            Aliveness = "Alive"
	NotAlive         Aliveness = "NotAlive"
	AlivenessUnknown Aliveness = "Unknown"
)

// Sign is what Aliveness follows from.
type Sign string

// The signs.
const (
	SignNeverWorked  Sign = "NeverWorked"  // nothing has worked on the Job
	SignLeaseExpired Sign = "LeaseExpired" // at LeaseRenewed, and its duration
	SignLeaseHeld    Sign = "LeaseHeld"    // by LeaseHolder
	SignOverdue      Sign = "Overdue"      // Overdue ended pods are not recorded, since OverdueSince
	SignLastWrite    Sign = "LastWrite"    // of the status
	SignNone         Sign = "None"
)

// FieldManagers of the controllers that may run a Job of the built-in one.
const (
	OurFieldManager     = reconcile.FieldManager // with --replace-builtin
	builtInFieldManager = "kube-controller-manager"
)

// ReplacesBuiltIn reports whether this project's controller runs a Job of the built-in one: of the two, it wrote the
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

// LeasedBy is the managedBy value that names the Lease of the Job's controller; "" for the built-in one. ourName is
// that of this project's controller.
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

// Name is who runs the Job; "" for the built-in controller.
func (r *Reconciler) Name() string {
	if r.ManagedBy == "" || r.ManagedBy == BuiltInManagedBy {
		return r.Program
	}
	return r.ManagedBy
}

// Reconciler is who runs the Job.
type Reconciler struct {
	// ManagedBy is that of the Job; "" for the built-in controller. Ours is set for the
	// default name of this project's controller.
	ManagedBy string `json:"managedBy,omitempty"`
	Ours      bool   `json:"ours,omitempty"`
	// Program runs the Job in place of the built-in controller; "" unless one does.
	Program string    `json:"program,omitempty"`
	Alive   Aliveness `json:"alive"`
	// Sign is the reason for Alive, and Text the same in one line.
	Sign Sign   `json:"sign"`
	Text string `json:"text"`
	// Manager last wrote the status, at LastWrite.
	Manager   string       `json:"manager,omitempty"`
	LastWrite *metav1.Time `json:"lastWrite,omitempty"`
	// LeaseHolder holds the Lease of the controller since LeaseRenewed.
	LeaseHolder  string       `json:"leaseHolder,omitempty"`
	LeaseRenewed *metav1.Time `json:"leaseRenewed,omitempty"`
	// Lease is namespace/name of the Lease.
	Lease string `json:"lease,omitempty"`
	// Overdue is how many ended pods should have been recorded, since OverdueSince.
	Overdue      int32        `json:"overdue,omitempty"`
	OverdueSince *metav1.Time `json:"overdueSince,omitempty"`
}
