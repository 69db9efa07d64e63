package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// server is a fake API whose responses to creations of Jobs may be lost.
type server struct {
	*clitest.Writes
	t *testing.T

	outage []clitest.Status  // responses to creations after the first Job's
	first  bool              // the outage begins with the first Job
	stores func(name string) // called after storing a Job whose response the outage loses; nil if it is not stored
	delays bool              // a Job that the outage loses is stored when the next request arrives
	// retryAfter makes client-go repeat requests that the outage loses.
	retryAfter bool
	sent       int                        // number of creations
	last       *unstructured.Unstructured // what the last one creates
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{Writes: clitest.NewWrites(t), t: t}
	s.API.Server.Close()
	s.API.Server = httptest.NewServer(s)
	s.API.Address = s.API.Server.Listener.Addr().String()
	s.Create = func(job *unstructured.Unstructured) {
		job.SetUID(types.UID("ns1-" + job.GetName()))
		_ = unstructured.SetNestedStringMap(job.Object, map[string]string{"job": job.GetName()}, "spec", "selector", "matchLabels")
		s.last = job
	}
	return s
}

func (s *server) start(args ...string) *clitest.Session {
	return program.Start(s.t, s.API, clitest.NewEnv(), append([]string{"run"}, args...)...)
}

// run runs the Job of a manifest, and returns when it is followed.
func (s *server) run(manifest string, args ...string) *clitest.Session {
	session := s.start(append(args, "-f", clitest.WriteManifest(s.t, manifest))...)
	session.WaitErr("  Running, ")
	return session
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/jobs") || r.URL.Query().Has("dryRun") {
		s.Writes.ServeHTTP(w, r)
		return
	}
	if s.sent++; s.delays && s.last != nil && s.Job(s.last.GetName()) == nil {
		s.API.Put(s.last)
	}
	if len(s.outage) == 0 || s.sent == 1 && !s.first {
		s.Writes.ServeHTTP(w, r)
		return
	}
	lost := s.outage[0]
	s.outage = s.outage[1:]
	if s.stores == nil {
		s.Reject = func(string, *http.Request) *clitest.Status { return &lost }
		defer func() { s.Reject = nil }()
		s.Writes.ServeHTTP(w, r)
		return
	}
	stored := httptest.NewRecorder()
	if s.Writes.ServeHTTP(stored, r); stored.Code != http.StatusOK {
		w.WriteHeader(stored.Code)
		_, _ = w.Write(stored.Body.Bytes())
		return
	}
	if s.retryAfter {
		w.Header().Set("Retry-After", "0")
	}
	s.stores(s.last.GetName())
	clitest.WriteStatus(w, &lost, s.last.GetName())
}

// finish ends a Job with a condition, after changes of its status.
func (s *server) finish(name, condition, reason string, status map[string]any) {
	job := s.Job(name)
	for field, value := range status {
		_ = unstructured.SetNestedField(job.Object, value, "status", field)
	}
	_ = unstructured.SetNestedField(job.Object, clitest.Now().Format("2006-01-02T15:04:05Z"), "status", "startTime")
	s.API.Put(clitest.WithCondition(job, condition, reason, ""))
}

// retryOther runs the Job other, which fails, with a retry.
func (s *server) retryOther() *clitest.Session {
	session := s.run(other, "--retry=1")
	s.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	return session
}

// answers makes the response to the creation of an object wait, once it is stored.
func (s *server) answers(name string, wait func(r *http.Request)) {
	s.Around = func(_ string, r *http.Request, serve func()) {
		named := s.Named()
		if serve(); named[len(named)-1] == "create "+name {
			wait(r)
		}
	}
}
