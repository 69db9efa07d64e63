package kube

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// IsNotFound reports whether the API server answered that the object does not exist. A proxy's 404, for which client-go
// fills in the object, does not count.
func IsNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err)
}
