package lint

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// MisspelledManagedBy is the ID of the Finding that spec.managedBy looks like a misspelling of this controller's name.
const MisspelledManagedBy = "managed-by-misspelled"

const (
	maxManagedBy = 63
	// maxTypos is the largest distance between a misspelling and the name.
	maxTypos = 2
)

func checkManagedBy(r *review) {
	if r.spec.ManagedBy == nil {
		return
	}
	value, path := *r.spec.ManagedBy, r.specPath("managedBy")
	const fix = "use a domain, '/' and a path, such as batchjob.dev/controller"
	if problems := validation.IsDomainPrefixedPath(path, value); len(problems) > 0 {
		r.reject("managed-by-invalid", path, fix, "managedBy %q: %s", value, problems[0].Detail)
	}
	if len(value) > maxManagedBy {
		r.reject("managed-by-invalid", path, "use a shorter name", "managedBy is %d bytes long, but at most %d are allowed", len(value), maxManagedBy)
	}
	if value != ourName && typo.Distance(value, ourName) <= maxTypos {
		r.add(Warning, MisspelledManagedBy, path, "write "+ourName, "managedBy %q looks like a misspelling of %s: no controller would run the Job", value, ourName)
	}
}

// managedByBuiltin reports whether the Job names the built-in controller.
func (r *review) managedByBuiltin() bool {
	return r.spec.ManagedBy != nil && *r.spec.ManagedBy == batchv1.JobControllerName
}
