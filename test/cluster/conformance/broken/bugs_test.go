package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

type server func(*http.Request) string

func (s server) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s(request)))}, nil
}

func send(t *testing.T, through http.RoundTripper, method, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://api"+path, strings.NewReader(body))
	assert.NoError(t, err)
	response, err := through.RoundTrip(request)
	assert.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	assert.NoError(t, err)
	return string(text)
}

// Requirements: CNF-07
func TestBugsChangeWhatIsRead(t *testing.T) {
	t.Parallel()
	const stored = `{"object":{"spec":{"backoffLimitPerIndex":1,"maxFailedIndexes":2,"managedBy":"example.com/y"}}}` + "\n"
	next := server(func(*http.Request) string { return stored + stored })
	for bug, want := range map[string]string{
		"ignores-managed-by":       strings.Replace(stored, "/y", "/x", 1),
		"ignores-per-index-limits": `{"object":{"spec":{"managedBy":"example.com/y"}}}` + "\n",
	} {
		changed := bugs[bug](next, "example.com/x", nil)
		assert.Equal(t, send(t, changed, http.MethodGet, "/apis/batch/v1/jobs?watch=1", ""), want+want, bug)
		assert.Equalf(t, send(t, changed, http.MethodGet, "/api/v1/pods", ""), stored+stored, "%s: pods", bug)
	}
}

// Requirements: CNF-07
func TestReleasesEarly(t *testing.T) {
	t.Parallel()
	pod := func(uid string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p" + uid, UID: "u", Finalizers: []string{batchv1.JobTrackingFinalizer}}}
	}
	other := pod("2")
	other.UID = "v"
	client := fake.NewClientset(pod("1"), other)
	var sent bytes.Buffer
	next := server(func(request *http.Request) string {
		_, _ = sent.ReadFrom(request.Body) // It cannot fail.
		return ""
	})
	const status = `{"metadata":{"namespace":"ns"},"status":{"uncountedTerminatedPods":{"failed":["u"]}}}`
	send(t, bugs["releases-early"](next, "", client), http.MethodPut, "/apis/batch/v1/namespaces/ns/jobs/a/status", status)
	assert.Equalf(t, sent.String(), status, "sent %s", &sent)
	for name, want := range map[string]int{"p1": 0, "p2": 1} {
		now, err := client.CoreV1().Pods("ns").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || len(now.Finalizers) != want {
			t.Errorf("%s has the finalizers %v, %v", name, now.Finalizers, err)
		}
	}
}
