package cmdutil

import (
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsOutage reports whether the API server did not answer, or the server or a proxy is temporarily unavailable.
func IsOutage(err error) bool {
	return slices.ContainsFunc(Flatten(err), func(err error) bool {
		if _, explained := errors.AsType[*UserError](err); !explained {
			if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
				code := answer.Status().Code
				return code == http.StatusTooManyRequests || code > http.StatusInternalServerError || apierrors.IsServerTimeout(err)
			}
		}
		return KindOf(ExplainError(err)) == KindUnreachable
	})
}
