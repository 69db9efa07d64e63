package kube_test

import (
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// CLI-01: only the API server's own answer means that an object does not exist.
func TestNotFoundIsTheAPIServersAnswer(t *testing.T) {
	jobs := batchv1.Resource("jobs")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":       {nil, false},
		"the API server": {apierrors.NewNotFound(jobs, "a"), true},
		"a proxy":        {apierrors.NewGenericServerResponse(http.StatusNotFound, "get", jobs, "a", "404 page not found", 0, true), false},
		"a kubelet":      {apierrors.NewGenericServerResponse(http.StatusNotFound, "get", jobs, "a", "404 page not found", 0, false), true},
	} {
		assert.Equal(t, kube.IsNotFound(c.err), c.want, name)
	}
}
