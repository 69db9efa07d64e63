package cluster

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// IsAmbiguous reports whether a failed write may have been stored: there was no response, a timeout, or a proxy lost
// the connection. (The API server itself may answer 429 without a Status.)
func IsAmbiguous(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return true
	}
	lost := apierrors.IsUnexpectedServerError(err) && status.Status().Code >= http.StatusInternalServerError
	return lost || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err)
}

// IsTransient reports whether the same write may succeed later.
func IsTransient(err error) bool {
	return IsAmbiguous(err) || apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)
}

// IsRejection reports whether the API server will reject the write every time: the object is invalid, or a webhook or a
// policy denies it.
func IsRejection(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// IsOtherPod reports whether the patch was for another pod: it would change the pod's UID, or add a second controller.
// An admission webhook may also reject a write as invalid, but without a cause; that error is permanent (REG-31).
func IsOtherPod(err error) bool {
	causes := DetailsOf(err).Causes
	return apierrors.IsInvalid(err) && len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool {
		return c.Field != "metadata.uid" && !strings.HasPrefix(c.Field, "metadata.ownerReferences")
	})
}

func isFromWebhook(err error) bool { return strings.Contains(err.Error(), "admission webhook ") }

// IsMissing reports whether the API server has no object of this name. A webhook may return the same error about an
// object that it looks up, and a proxy an error in which client-go fills in the name.
func IsMissing(err error, resource, name string) bool {
	if !kube.IsNotFound(err) || isFromWebhook(err) {
		return false
	}
	d := DetailsOf(err)
	return d.Kind == resource && d.Name == name
}

// DetailsOf returns the details of an API error.
func DetailsOf(err error) metav1.StatusDetails {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Details != nil {
		return *status.Status().Details
	}
	return metav1.StatusDetails{}
}
