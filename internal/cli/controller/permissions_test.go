package controller

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// slowServer is an API server that allows everything, after a delay.
func slowServer(delay time.Duration) *rest.Config {
	return &rest.Config{Host: "http://slow.example", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(delay):
		}
		const allowed = `{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": true}}`
		return &http.Response{
			StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(allowed)), Request: r,
		}, nil
	})}
}

// JOB-48, issue 7, point 7: if the API server hangs, the start fails with the error for an unreachable server, so
// that neither users nor probes wait forever. The clock is the test's.
func TestControllerGivesUpOnServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		o := &Options{IOStreams: streams}
		newCommandFor(o)
		o.config.Client = controllerClient(t, slowServer(24*time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // A bug would otherwise make the test hang.
		defer cancel()
		begin := time.Now()
		err := cmdutil.ExplainError(o.Run(ctx))
		assert.Equal(t, time.Since(begin), serverInfoTimeout+permissionTimeout, "the time until it gave up")
		const want = "cannot reach the API server at http://slow.example: no answer in time; check that it is running and that the context is correct (kubectl config view --minify)"
		if err == nil || err.Error() != want || cmdutil.ExitCode(err) != cmdutil.ExitError || cmdutil.KindOf(err) != cmdutil.KindUnreachable {
			t.Errorf("kind %s: %v", cmdutil.KindOf(err), err)
		}
	})
}

// JOB-48: the time limit applies to each namespace, so a slow API server can be used with many of them.
func TestEachNamespaceHasTimeForItsPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := checkPermissions(t.Context(), controllerClient(t, slowServer(time.Second)), []string{"a", "b", "c"}, "d", leaseRule); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took <= permissionTimeout {
			t.Errorf("it took only %v, which shows nothing", took)
		}
		err := checkPermissions(t.Context(), controllerClient(t, slowServer(10*time.Second)), []string{"a"}, "", leaseRule)
		assert.Equal(t, cmdutil.KindOf(cmdutil.ExplainError(err)), cmdutil.KindUnreachable, err, "a server too slow for one namespace")
	})
}
