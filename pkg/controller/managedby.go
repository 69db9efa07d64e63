package controller

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// owns reports whether the Job is ours: spec.managedBy names this controller (MGB-01), or it is unset or names the
// built-in controller, which this one replaces (MGB-02).
func (c *Config) owns(job *batchv1.Job) bool {
	switch by := job.Spec.ManagedBy; {
	case by == nil, *by == batchv1.JobControllerName, !c.Limits.Features.ManagedBy:
		return c.ReplaceBuiltin
	default:
		return *by == c.ManagedBy
	}
}

// ValidateManagedBy checks a name as the API server checks spec.managedBy: a domain-prefixed path of at most 63
// characters. The name of the built-in controller is valid only if replaceBuiltin is set (MGB-02, D-27).
func ValidateManagedBy(name string, replaceBuiltin bool) error {
	const limit = 63
	switch {
	case len(name) > limit:
		return fmt.Errorf("managedBy %q has %d characters; the API allows %d", name, len(name), limit)
	case name == batchv1.JobControllerName && !replaceBuiltin:
		return fmt.Errorf("managedBy %q is reserved for the controller built into Kubernetes; choose a name of your own, such as %q", name, DefaultManagedBy)
	}
	if list := validation.IsDomainPrefixedPath(field.NewPath("managedBy"), name); len(list) > 0 {
		return fmt.Errorf("managedBy %q must be a domain and a path, such as %q: %s", name, DefaultManagedBy, list[0].Detail)
	}
	return nil
}
