package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: RUN-14, RTY-27
func TestWritesWithoutAClearAnswerMayBeDone(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	generic := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "POST", jobs, "a", "x", 0, true)
	}
	for what, tc := range map[string]struct {
		err  error
		want bool
	}{
		"none":                     {nil, false},
		"refused connection":       {&url.Error{Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, false},
		"refused proxy":            {&url.Error{Err: &net.OpError{Op: "proxyconnect", Err: errors.New("connection refused")}}, false},
		"closed connection":        {&url.Error{Err: io.EOF}, true},
		"reset connection":         {&url.Error{Err: &net.OpError{Op: "read", Err: errors.New("reset")}}, true},
		"interrupted":              {context.Canceled, true},
		"exists":                   {apierrors.NewAlreadyExists(jobs, "a"), false},
		"forbidden":                {fmt.Errorf("creating: %w", apierrors.NewForbidden(jobs, "a", nil)), false},
		"throttled":                {apierrors.NewTooManyRequests("slow down", 1), false},
		"a webhook that is down":   {apierrors.NewInternalError(errors.New(`failed calling webhook "x.example.com": connection refused`)), false},
		"a slow etcd":              {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), true},
		"timeout":                  {apierrors.NewTimeoutError("request did not complete", 1), true},
		"a proxy without upstream": {generic(http.StatusBadGateway), true},
		"unavailable":              {apierrors.NewServiceUnavailable("etcd"), true},
	} {
		assert.Equal(t, kube.MayBeDone(tc.err), tc.want, what)
	}
}
