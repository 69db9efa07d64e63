package kube

import (
	"errors"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MayBeDone reports whether a write that failed may still have been applied, or may be applied later: there was no
// response, or an inconclusive one. It is false if the API server was not reached, or has rejected the write.
func MayBeDone(err error) bool {
	answer := apierrors.APIStatus(nil)
	dial := (*net.OpError)(nil)
	switch {
	case err == nil, errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect"):
		return false
	case !errors.As(err, &answer):
		return true
	case apierrors.IsInternalError(err) && strings.Contains(answer.Status().Message, "failed calling webhook"):
		return false // Admission comes before the object is stored.
	}
	return answer.Status().Code >= http.StatusInternalServerError
}
