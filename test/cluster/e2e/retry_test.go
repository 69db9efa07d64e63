package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// createSweep creates Job sweep with six indexes, and waits until indexes 2 and 4 have failed.
func createSweep(t *testing.T, ns string, ours bool) {
	t.Helper()
	job := indexedJob(6, 6, map[string]string{"run-time": "500ms", "exit-code.2": "1", "exit-code.4": "1"}, func(s *batchv1.JobSpec) {
		s.BackoffLimitPerIndex = ptr.To[int32](0)
		if !ours {
			s.ManagedBy = nil
		}
	})
	job.Name = "sweep"
	create(t, ns, job)
	if _, reason := finished(t, ns, "sweep"); reason != "Failed/FailedIndexes" {
		t.Fatal(reason)
	}
}

// Ctrl-C and SIGTERM during a call leave nothing behind, and give the documented exit codes.
// Requirements: RTY-05
func TestSignalsDuringRetry(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	createSweep(t, ns, true)
	for _, call := range []struct{ method, path string }{{http.MethodPost, "/jobs"}, {http.MethodPatch, "/sweep-retry-1/status"}, {http.MethodPatch, "/sweep-retry-1"}} {
		for signal, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
			proxy, reached := startHanging(t, call.method, call.path)
			var out leash.Output
			cmd := leash.Command(binary, "retry", "sweep", "--kubeconfig", kubeconfig, "-n", ns, "--server", proxy)
			cmd.Stdout, cmd.Stderr = &out, &out
			assert.NoError(t, cmd.Start())
			select {
			case <-reached:
			case <-time.After(patience):
				t.Error("it does not come to " + call.method + " " + call.path)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // The exit code is checked instead.
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("%s %s, %v: exit code %d, want %d: %s", call.method, call.path, signal, got, code, out.String())
			}
			r := kubectlBatchjob(t, "status", "--kubeconfig", kubeconfig, "-n", ns, "-o", "name")
			if strings.TrimSpace(r.Out) != "job.batch/sweep" {
				t.Errorf("%s %s, %v: it leaves %s", call.method, call.path, signal, r.Out)
			}
		}
	}
}

// startHanging starts a proxy that neither forwards nor answers one call.
func startHanging(t *testing.T, method, path string) (address string, reached <-chan struct{}) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	assert.NoError(t, err)
	target, err := url.Parse(config.Host)
	assert.NoError(t, err)
	transport, err := rest.TransportFor(config)
	assert.NoError(t, err)
	hangs := make(chan struct{})
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method || !strings.HasSuffix(r.URL.Path, path) {
			forward.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // An unread body would keep the server from noticing that the client is gone.
		close(hangs)
		<-r.Context().Done()
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, hangs
}
