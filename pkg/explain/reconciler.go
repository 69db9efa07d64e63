package explain

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Reconciler is who runs the Job.
type Reconciler struct {
	// ManagedBy is that of the Job; "" for the built-in controller. Ours is set for the
	// default name of this project's controller.
	ManagedBy string    `json:"managedBy,omitempty"`
	Ours      bool      `json:"ours,omitempty"`
	Alive     Aliveness `json:"alive"`
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
