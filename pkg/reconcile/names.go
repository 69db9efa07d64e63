package reconcile

// Names of this project's controller, for packages that may not import pkg/controller.
const (
	// DefaultManagedBy is the default spec.managedBy of the Jobs that the controller reconciles.
	DefaultManagedBy = "batchjob.dev/controller"
	// FieldManager identifies the controller's writes (MGB-13).
	FieldManager = "kubectl-batchjob-controller"
)
