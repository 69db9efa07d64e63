package kube

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// IsNotFound reports whether the API server has no such object. The 404 of a proxy, for which client-go fills in the object,
// does not mean that.
func IsNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err)
}
