package requests

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// world has timers that a test fires, and an API server whose responses a test writes.
type world struct {
	limits  *Limits
	client  http.RoundTripper
	printed []string
	timers  map[time.Duration]func() // those that run, by duration
	server  func(*http.Request) (*http.Response, error)
}

const notice, timeout = 5 * time.Second, time.Minute

func newWorld() *world {
	w := &world{timers: map[time.Duration]func(){}}
	w.limits = &Limits{
		Notice: notice, Now: time.Now, Print: func(line string) { w.printed = append(w.printed, line) },
		After: func(d time.Duration, fire func()) func() {
			w.timers[d] = fire
			return func() { delete(w.timers, d) }
		},
	}
	w.client = w.limits.Wrap(transportFunc(func(r *http.Request) (*http.Response, error) { return w.server(r) }), timeout)
	return w
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// get sends a request to the path.
func (w *world) get(ctx context.Context, t *testing.T, path string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api:6443"+path, http.NoBody)
	assert.NoError(t, err)
	return w.client.RoundTrip(r)
}

// silence waits as long as the request may, after it has fired the timers.
func (w *world) silence(fired ...time.Duration) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		for _, d := range fired {
			w.timers[d]()
		}
		return &http.Response{Body: io.NopCloser(strings.NewReader(""))}, r.Context().Err()
	}
}

const trainPath = "/apis/batch/v1/namespaces/ml/jobs/train"

// Requirements: CLI-70
func TestNoticeIsPrintedOnceUntilATimeout(t *testing.T) {
	w := newWorld()
	line := `Waiting for the API server at https://api:6443 to answer: get job "train" in namespace "ml"`
	w.server = w.silence(notice)
	for range 3 {
		if _, err := w.get(t.Context(), t, trainPath); err != nil || !slices.Equal(w.printed, []string{line}) {
			t.Fatalf("%v, %q", err, w.printed)
		}
	}
	w.server = w.silence(notice, timeout)
	_, err := w.get(t.Context(), t, trainPath)
	failed, is := errors.AsType[*TimeoutError](err)
	if !is || failed.Call.Name != "train" || failed.Timeout != timeout || failed.Began || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	w.server = w.silence(notice)
	if _, err := w.get(t.Context(), t, trainPath); err != nil || !slices.Equal(w.printed, []string{line, line}) {
		t.Errorf("%v, %q", err, w.printed)
	}
	assert.Equal(t, len(w.timers), 0, "timers are left")
}

// Requirements: CLI-70
func TestFollowedRequestsPrintNoNotice(t *testing.T) {
	w := newWorld()
	w.server = w.silence(notice, timeout)
	if _, err := w.get(Followed(t.Context()), t, trainPath); err == nil || len(w.printed) > 0 {
		t.Errorf("%v, %q", err, w.printed)
	}
}

// Requirements: CLI-70
func TestWatchesAndFollowedLogsHaveNoLimit(t *testing.T) {
	for _, path := range []string{"/api/v1/namespaces/ml/pods?watch=true", "/api/v1/namespaces/ml/pods/a/log?follow=true"} {
		w := newWorld()
		w.server = w.silence()
		if _, err := w.get(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
		w.server = func(*http.Request) (*http.Response, error) {
			if len(w.timers) > 0 {
				t.Errorf("%s: a timer runs", path)
			}
			return &http.Response{}, nil
		}
		_, _ = w.get(t.Context(), t, path)
	}
}

// A long response is not cut off, and time counts only while it is read.
// Requirements: CLI-70
func TestLimitIsForEachPartOfAResponse(t *testing.T) {
	w := newWorld()
	var answered context.Context
	parts, silent := 3, false
	w.server = func(r *http.Request) (*http.Response, error) {
		answered = r.Context()
		return &http.Response{Body: io.NopCloser(readerFunc(func(p []byte) (int, error) {
			assert.Equal(t, len(w.timers), 2, "timers run while the response is read")
			if parts == 0 {
				w.timers[timeout]()
				silent = true
				return 0, answered.Err()
			}
			parts--
			return copy(p, "x"), nil
		}))}, nil
	}
	response, err := w.get(t.Context(), t, trainPath)
	if err != nil || len(w.timers) > 0 {
		t.Fatalf("%v, %d timers", err, len(w.timers))
	}
	text, err := io.ReadAll(response.Body)
	failed, is := errors.AsType[*TimeoutError](err)
	if string(text) != "xxx" || !silent || !is || !failed.Began || len(w.timers) > 0 {
		t.Errorf("%q, %v, %d timers", text, err, len(w.timers))
	}
	assert.NoError(t, response.Body.Close())
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Requirements: CLI-70
func TestRequestsAreNamed(t *testing.T) {
	for _, tc := range []struct{ method, path, want string }{
		{"GET", "/api/v1/namespaces/ml/pods", `list pods in namespace "ml"`},
		{"GET", "/apis/batch/v1/jobs", "list jobs in all namespaces"},
		{"GET", "/k8s/clusters/c-1/apis/batch/v1/namespaces/api/jobs/train", `get job "train" in namespace "api"`},
		{"GET", "/api/v1/namespaces/ml/pods/a/log", `get pods/log "a" in namespace "ml"`},
		{"GET", "/api/v1/nodes/n1", `get node "n1"`},
		{"GET", "/api/v1/namespaces", "list namespaces"},
		{"GET", "/api/v1/namespaces/ml", `get namespace "ml"`},
		{"POST", "/apis/batch/v1/namespaces/ml/jobs", `create jobs in namespace "ml"`},
		{"PATCH", "/apis/batch/v1/namespaces/ml/jobs/train/status", `patch jobs/status "train" in namespace "ml"`},
		{"DELETE", "/apis/batch/v1/namespaces/ml/jobs/train", `delete job "train" in namespace "ml"`},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "create selfsubjectaccessreviews"},
		{"GET", "/apis/batch/v1", "get /apis/batch/v1"},
		{"GET", "/api", "get /api"},
		{"GET", "/livez", "get /livez"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, "https://api"+tc.path, http.NoBody)
		assert.NoError(t, err)
		assert.Equalf(t, callOf(r).String(), tc.want, "%s %s", tc.method, tc.path)
	}
}
