package controller

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/cert"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// client-go's default is to check certificate files every five minutes.
func init() { transport.CertCallbackRefreshDuration = 10 * time.Millisecond }

// controllerConfig returns the controller's client configuration for a kubeconfig with these lines for its cluster
// and its user.
func controllerConfig(t *testing.T, cluster, user string) *rest.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: c, cluster: {%s}}]
users: [{name: u, user: {%s}}]
contexts: [{name: test, context: {cluster: c, user: u}}]
`, cluster, user)
	assert.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	flags := cmdutil.NewKubeFlags()
	flags.Kubeconfig = path
	config, err := cmdutil.RESTConfig(flags, io.Discard)
	assert.NoError(t, err)
	return config
}

func controllerClient(t *testing.T, config *rest.Config) kube.Interface {
	t.Helper()
	client, err := newControllerClient(config, -1, 1, 0)
	assert.NoError(t, err)
	return client
}

// asked makes one request.
func asked(t *testing.T, client kube.Interface) {
	t.Helper()
	if _, err := client.CoreV1().Pods("ns").Get(t.Context(), "pod", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const emptyPod = `{"kind": "Pod", "apiVersion": "v1"}`

// JOB-57: a token file, which is how a pod's service account gets its token, is reread within a minute, without a
// restart; a 401 response does not speed that up. The kubelet replaces a token long before it expires. If the file is
// missing, the old token stays in use.
func TestTokenFileIsReadAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		t.Helper()
		assert.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	}
	write("first")
	config := controllerConfig(t, `server: "https://127.0.0.1:1"`, "tokenFile: "+file)
	synctest.Test(t, func(t *testing.T) {
		shown := ""
		config := rest.CopyConfig(config)
		config.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			shown = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(emptyPod))}, nil
		})
		client := controllerClient(t, config)
		want := func(token string) {
			t.Helper()
			if asked(t, client); shown != token {
				t.Errorf("the token is %q, want %q", shown, token)
			}
		}
		want("first")
		begun := time.Now()
		write("second")
		for shown != "second" && time.Since(begun) < time.Hour {
			time.Sleep(time.Second)
			asked(t, client)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("the token was read anew after %v", took)
		} else {
			t.Logf("the token was read anew after %v", took)
		}
		assert.NoError(t, os.Remove(file))
		time.Sleep(time.Hour)
		want("second")
		write("third")
		time.Sleep(time.Minute)
		want("third")
	})
}

// writeClientPair writes a self-signed certificate for the name, and its key.
func writeClientPair(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	assert.NoError(t, err)
	// The key is written first: client-go retries a pair that does not match.
	assert.NoError(t, errors.Join(os.WriteFile(keyFile, key, 0o600), os.WriteFile(certFile, certificate, 0o600)))
}

// JOB-57: a client certificate that is renewed on disk is used without a restart, even if a connection with the old
// one is open.
func TestClientCertificateIsReadAnew(t *testing.T) {
	var mu sync.Mutex
	shown := ""
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		shown = r.TLS.PeerCertificates[0].Subject.CommonName
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, emptyPod)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})

	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	writeClientPair(t, certFile, keyFile, "first")
	client := controllerClient(t, controllerConfig(t,
		fmt.Sprintf("server: %q, certificate-authority-data: %s", server.URL, base64.StdEncoding.EncodeToString(authority)),
		fmt.Sprintf("client-certificate: %s, client-key: %s", certFile, keyFile)))
	is := func(name string) bool {
		_, err := client.CoreV1().Pods("ns").Get(t.Context(), "pod", metav1.GetOptions{})
		mu.Lock()
		defer mu.Unlock()
		return err == nil && strings.HasPrefix(shown, name+"@")
	}
	if !is("first") {
		t.Fatalf("the certificate is of %q", shown)
	}
	writeClientPair(t, certFile, keyFile, "second")
	clitest.WaitFor(t, func() bool { return is("second") }, func() string { return "the certificate is of " + shown })
}
