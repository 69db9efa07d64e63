package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TRK-19: after a creation that may have succeeded despite its error, the pods are listed before anything else is
// created; after a creation that cannot have succeeded, they are not.
func TestPodsAreListedAfterAnAmbiguousCreation_TRK_19(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, c := range []struct {
		err   error
		lists int
	}{
		{apierrors.NewInternalError(errors.New("etcdserver: request timed out")), 1},
		{apierrors.NewTimeoutError("timed out", 1), 1},
		{apierrors.NewServerTimeout(pods, "create", 1), 1},
		{errors.New("connection reset"), 1},
		{fmt.Errorf("posting: %w", context.DeadlineExceeded), 1},
		{apierrors.NewForbidden(pods, "train", errors.New("exceeded quota")), 0},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "train", nil), 0},
		{apierrors.NewTooManyRequests("later", 1), 0},
		{apierrors.NewServiceUnavailable("no endpoints"), 0},
	} {
		r := refusing(t, func() error { return c.err })
		job := ourJob(1)
		r.addJob(job)
		r.engine.Trust(job)
		if _, err := r.sync(); err == nil || r.did("create") != 1 || r.did("list") != c.lists {
			t.Errorf("%v: %v, calls %q", c.err, err, r.calls)
		}
		// The fake cluster returns no lists: until it returns one, nothing is created.
		if _, err := r.sync(); err == nil || r.did("create") != 1-c.lists || r.did("list") != c.lists {
			t.Errorf("%v, again: %v, calls %q", c.err, err, r.calls)
		}
	}
}
