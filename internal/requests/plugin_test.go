package requests

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The plugin waits, as for a login, until the notice is printed. Then the request is sent with its token, and there is nothing
// left to report.
// Requirements: CLI-70
func TestACredentialPluginThatWaitsIsReported(t *testing.T) {
	login := filepath.Join(t.TempDir(), "login")
	assert.NoError(t, syscall.Mkfifo(login, 0o600))
	w, token := newWorld(), make(chan string, 1)
	var running int // timers while the server answers: a watch has none of its own
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		running = len(w.timers)
		token <- r.Header.Get("Authorization")
	}))
	defer server.Close()
	after := w.limits.After
	w.limits.After = func(d time.Duration, fire func()) func() {
		stop := after(d, fire)
		if len(w.printed) == 0 {
			fire()
			go func() { // Opening the file waits for the plugin.
				if err := os.WriteFile(login, []byte(`{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "t"}}`), 0o600); err != nil {
					t.Error(err)
				}
			}()
		}
		return stop
	}
	config := &rest.Config{Host: server.URL, ExecProvider: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "cat", Args: []string{login}, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return w.limits.Wrap(next, timeout) })
	config, err := w.limits.WithPlugin(config)
	assert.NoError(t, err)
	client, err := rest.HTTPClientFor(config)
	assert.NoError(t, err)
	response, err := client.Get(config.Host + trainPath + "?watch=true")
	assert.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, <-token, "Bearer t", "the request came with")
	assert.SlicesEqual(t, w.printed, []string{"Waiting for the credential plugin cat, which the kubeconfig names."})
	if running > 0 || len(w.timers) > 0 {
		t.Errorf("%d timers while the server answered; %d are left", running, len(w.timers))
	}
}

// Requirements: CLI-70
func TestACredentialPluginThatFailsLeavesNoTimer(t *testing.T) {
	w := newWorld()
	config, err := w.limits.WithPlugin(&rest.Config{Host: "https://api:6443", ExecProvider: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "false", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}})
	assert.NoError(t, err)
	client, err := rest.HTTPClientFor(config)
	assert.NoError(t, err)
	if response, err := client.Get(config.Host + trainPath); err == nil {
		_ = response.Body.Close()
		t.Error("the request succeeded")
	}
	if len(w.timers) > 0 || len(w.printed) > 0 {
		t.Errorf("%d timers are left; printed %q", len(w.timers), w.printed)
	}
}
