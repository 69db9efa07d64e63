package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/component-base/metrics"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// run starts a server that runs until the test ends.
func run(t *testing.T, handler http.Handler, config *tls.Config) *Server {
	t.Helper()
	s, err := Listen("a test", "127.0.0.1:0", handler, config)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done, "the server ended with")
		if conn, err := net.Dial("tcp", s.listener.Addr().String()); err == nil {
			_ = conn.Close()
			t.Error("it still listens")
		}
	})
	return s
}

func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	answer, err := client.Get(url)
	assert.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	assert.NoError(t, err)
	return answer.StatusCode, string(body)
}

// Requirements: JOB-52
func TestMetricsAndConfigurationAreServed(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	counter := metrics.NewCounter(&metrics.CounterOpts{Name: "things_total", Help: "Things."})
	registry.MustRegister(counter)
	counter.Inc()
	s := run(t, Metrics(registry, map[string]string{"managedBy": "x"}, false), nil)
	if code, body := get(t, http.DefaultClient, s.URL()+"/metrics"); code != http.StatusOK || !strings.Contains(body, "things_total 1") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := get(t, http.DefaultClient, s.URL()+"/configz"); code != http.StatusOK || !strings.Contains(body, `"managedBy": "x"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := get(t, http.DefaultClient, s.URL()+"/other"); code != http.StatusNotFound {
		t.Errorf("%d", code)
	}
}

// Requirements: JOB-52
func TestProfilesAreServedOnRequestOnly(t *testing.T) {
	for profiling, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		s := run(t, Metrics(metrics.NewKubeRegistry(), nil, profiling), nil)
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=0.1"} {
			if code, _ := get(t, http.DefaultClient, s.URL()+path); code != want {
				t.Errorf("profiling %t, %s: %d", profiling, path, code)
			}
		}
	}
}

func TestProbesReportEachCheck(t *testing.T) {
	broken := error(nil)
	s := run(t, Probes(map[string]Check{"ping": func() error { return nil }}, map[string]Check{"a": func() error { return nil }, "b": func() error { return broken }}), nil)
	want := func(path string, wantCode int, wantBody string) {
		t.Helper()
		if code, body := get(t, http.DefaultClient, s.URL()+path); code != wantCode || body != wantBody {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	want("/healthz", http.StatusOK, "[+]ping ok\n")
	want("/readyz", http.StatusOK, "[+]a ok\n[+]b ok\n")
	broken = errors.New("not yet")
	want("/readyz", http.StatusServiceUnavailable, "[+]a ok\n[-]b: not yet\n")
	want("/healthz", http.StatusOK, "[+]ping ok\n")
}

func TestListenReportsBadAddresses(t *testing.T) {
	s := run(t, http.NotFoundHandler(), nil)
	if _, err := Listen("metrics", s.listener.Addr().String(), nil, nil); err == nil || !strings.Contains(err.Error(), s.listener.Addr().String()) {
		t.Errorf("an address in use: %v", err)
	}
	if _, err := Listen("metrics", "nonsense", nil, nil); err == nil {
		t.Error("no error for an address without a port")
	}
	off, err := Listen("metrics", Off, nil, nil)
	if err != nil || off.URL() != "" || off.Run(context.Background()) != nil {
		t.Errorf("switched off: %v", err)
	}
}

// seen returns the name on the certificate that a server presents.
func seen(t *testing.T, address string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	assert.NoError(t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func writePair(t *testing.T, certFile, keyFile, host string, at time.Time) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	assert.NoError(t, err)
	for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
		assert.NoError(t, errors.Join(os.WriteFile(file, content, 0o600), os.Chtimes(file, at, at)))
	}
}

// A renewed certificate is presented at once; while its files are broken, the last good one is used.
func TestCertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if _, err := NewTLS(certFile, keyFile); err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("no files: %v", err)
	}
	begun := time.Unix(1_000_000, 0)
	writePair(t, certFile, keyFile, "first", begun)
	config, err := NewTLS(certFile, keyFile)
	assert.NoError(t, err)
	address := run(t, http.NotFoundHandler(), config).listener.Addr().String()
	want := func(name string) {
		t.Helper()
		if got := seen(t, address); !strings.HasPrefix(got, name+"@") {
			t.Errorf("got %s, want %s", got, name)
		}
	}
	want("first")
	writePair(t, certFile, keyFile, "second", begun.Add(time.Minute))
	want("second")
	assert.NoError(t, errors.Join(os.WriteFile(keyFile, []byte("half"), 0o600), os.Chtimes(keyFile, begun, begun)))
	want("second")
	writePair(t, certFile, keyFile, "third", begun.Add(time.Hour))
	want("third")
}

func TestCertificateIsMadeWithoutFiles(t *testing.T) {
	config, err := NewTLS("", "", "box", "localhost")
	assert.NoError(t, err)
	s := run(t, http.NotFoundHandler(), config)
	if got := seen(t, s.listener.Addr().String()); !strings.HasPrefix(got, "localhost@") || !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("got %s at %s", got, s.URL())
	}
}
