package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/cert"
	"k8s.io/component-base/metrics"

	"github.com/batchjob-dev/kubectl-batchjob/test/kubefake"
)

// JOB-52: who may read the metrics. The API server's two reviews decide, and if it does
// not answer, nobody may.
func TestMetricsAreForThoseWhoMayReadThem_JOB_52(t *testing.T) {
	for name, c := range map[string]struct {
		header        string
		fails         string // the resource whose review fails
		authenticated bool
		allowed       bool
		want          int
	}{
		"no token":               {"", "", true, true, http.StatusUnauthorized},
		"another scheme":         {"Basic abc", "", true, true, http.StatusUnauthorized},
		"empty token":            {"Bearer  ", "", true, true, http.StatusUnauthorized},
		"unknown token":          {"Bearer x", "", false, true, http.StatusUnauthorized},
		"not allowed":            {"Bearer x", "", true, false, http.StatusForbidden},
		"no answer about tokens": {"Bearer x", "tokenreviews", true, true, http.StatusServiceUnavailable},
		"no answer about access": {"Bearer x", "subjectaccessreviews", true, true, http.StatusServiceUnavailable},
		"allowed":                {"Bearer x", "", true, true, http.StatusOK},
	} {
		client := fake.NewClientset()
		var asked authorizationv1.SubjectAccessReviewSpec
		client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if action.GetResource().Resource == c.fails {
				return true, nil, errors.New("no answer")
			}
			switch o := action.(clienttesting.CreateAction).GetObject().(type) {
			case *authenticationv1.TokenReview:
				o.Status.Authenticated = c.authenticated && o.Spec.Token == "x"
				o.Status.User = authenticationv1.UserInfo{Username: "prometheus", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
				return true, o, nil
			case *authorizationv1.SubjectAccessReview:
				o.Status.Allowed, asked = c.allowed, o.Spec
				return true, o, nil
			}
			return false, nil, nil
		})
		handler := Reviewed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), kubefake.Client(client))
		request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Header.Set("Authorization", c.header)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != c.want {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		if c.want == http.StatusOK && (asked.User != "prometheus" || asked.Groups[0] != "g" || asked.Extra["k"][0] != "v" ||
			asked.NonResourceAttributes == nil || *asked.NonResourceAttributes != authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}) {
			t.Errorf("%s: asked %+v", name, asked)
		}
	}
}

// Requests whose token is not known yet are bounded, in number and in time.
func TestReviewsAreBounded_JOB_52(t *testing.T) {
	client := fake.NewClientset()
	answer := make(chan struct{})
	client.PrependReactor("create", "tokenreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		<-answer
		return true, &authenticationv1.TokenReview{}, nil
	})
	handler := Reviewed(http.NotFoundHandler(), kubefake.Client(client))
	send := func() int {
		request, answer := httptest.NewRequest(http.MethodGet, "/metrics", nil), httptest.NewRecorder()
		request.Header.Set("Authorization", "Bearer junk")
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	codes := make(chan int, maxReviews+1)
	for range maxReviews + 1 {
		go func() { codes <- send() }()
	}
	if code := <-codes; code != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", code)
	}
	close(answer)
	for range maxReviews {
		if code := <-codes; code != http.StatusUnauthorized {
			t.Errorf("got %d", code)
		}
	}
	if code := send(); code != http.StatusUnauthorized {
		t.Errorf("afterward: %d", code)
	}
}

// run serves until the test ends.
func run(t *testing.T, handler http.Handler, config *tls.Config) *Server {
	t.Helper()
	s, err := Listen("a test", "127.0.0.1:0", handler, config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if conn, err := net.Dial("tcp", s.Address().String()); err == nil {
			_ = conn.Close()
			t.Error("it still listens")
		}
	})
	return s
}

func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestMetricsAndConfigurationAreServed_JOB_52(t *testing.T) {
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

func TestProfilesAreServedOnRequestOnly_JOB_52(t *testing.T) {
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
	if _, err := Listen("metrics", s.Address().String(), nil, nil); err == nil || !strings.Contains(err.Error(), s.Address().String()) {
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

// seen is the name on the certificate that a server shows.
func seen(t *testing.T, address string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func writePair(t *testing.T, certFile, keyFile, host string, at time.Time) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
		if err := errors.Join(os.WriteFile(file, content, 0o600), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate that is renewed is shown at once, and while its files are broken the last
// good one is.
func TestCertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if _, err := NewTLS(certFile, keyFile); err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("no files: %v", err)
	}
	begun := time.Unix(1_000_000, 0)
	writePair(t, certFile, keyFile, "first", begun)
	config, err := NewTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	address := run(t, http.NotFoundHandler(), config).Address().String()
	want := func(name string) {
		t.Helper()
		if got := seen(t, address); !strings.HasPrefix(got, name+"@") {
			t.Errorf("got %s, want %s", got, name)
		}
	}
	want("first")
	writePair(t, certFile, keyFile, "second", begun.Add(time.Minute))
	want("second")
	if err := errors.Join(os.WriteFile(keyFile, []byte("half"), 0o600), os.Chtimes(keyFile, begun, begun)); err != nil {
		t.Fatal(err)
	}
	want("second")
	writePair(t, certFile, keyFile, "third", begun.Add(time.Hour))
	want("third")
}

func TestCertificateIsMadeWithoutFiles(t *testing.T) {
	config, err := NewTLS("", "", "box", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	s := run(t, http.NotFoundHandler(), config)
	if got := seen(t, s.Address().String()); !strings.HasPrefix(got, "localhost@") || !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("got %s at %s", got, s.URL())
	}
}
