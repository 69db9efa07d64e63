package reconcile

// The names of this project's controller. Packages need them that may not import pkg/controller.
const (
	// DefaultManagedBy is the default spec.managedBy of the Jobs that it reconciles.
	DefaultManagedBy = "batchjob.dev/controller"
	// FieldManager identifies its writes (MGB-13).
	FieldManager = "kubectl-batchjob-controller"
)
