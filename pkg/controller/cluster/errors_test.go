package cluster

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// TRK-10: a pod is gone only after a 404 of the API server about this very pod. client-go also adds the pod's name to
// the 404 of a proxy.
func TestMissingIsWhatTheAPIServerDoesNotFind(t *testing.T) {
	status := func(resource, name string) metav1.Status {
		s := apierrors.NewNotFound(corev1.Resource(resource), name).ErrStatus
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return s
	}
	for name, c := range map[string]struct {
		body any
		want bool
	}{
		"the API server":                {status("pods", "p"), true},
		"the API server, another pod":   {status("pods", "q"), false},
		"the API server, the namespace": {status("namespaces", "ns"), false},
		"a proxy":                       {"404 page not found", false},
		"a webhook": {metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound,
			Message: `admission webhook "w" denied the request: pods "p" not found`, Details: &metav1.StatusDetails{Kind: "pods", Name: "p"},
		}, false},
	} {
		err := clientOf(t, http.StatusNotFound, c.body).CoreV1().Pods("ns").Delete(t.Context(), "p", metav1.DeleteOptions{})
		if got := IsMissing(err, "pods", "p"); !apierrors.IsNotFound(err) || got != c.want {
			t.Errorf("%s: missing %v, with %v", name, got, err)
		}
	}
}

// TRK-36: a patch that would change the UID, or add a controller, is about another pod, unless there are further
// errors.
func TestPatchOfAnotherPod(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		fields  []string
		other   bool
	}{
		"another UID":              {`Pod "p" is invalid`, []string{"metadata.uid"}, true},
		"a second controller":      {`Pod "p" is invalid`, []string{"metadata.ownerReferences"}, true},
		"both":                     {`Pod "p" is invalid`, []string{"metadata.uid", "metadata.ownerReferences"}, true},
		"the UID and another one":  {`Pod "p" is invalid`, []string{"metadata.uid", "spec.containers"}, false},
		"no cause":                 {`Pod "p" is invalid`, nil, false},
		"a webhook, about the UID": {`admission webhook "w" denied the request: no`, []string{"metadata.uid"}, true},
	} {
		answer := metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
			Message: c.message, Details: &metav1.StatusDetails{Kind: "Pod", Name: "p"},
		}
		for _, field := range c.fields {
			answer.Details.Causes = append(answer.Details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field})
		}
		_, err := clientOf(t, http.StatusUnprocessableEntity, answer).CoreV1().Pods("ns").Patch(t.Context(), "p", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		assert.Equalf(t, IsOtherPod(err), c.other, "%s: another pod: %v", name, err)
	}
}

// clientOf returns a client of a server that always gives the same response.
func clientOf(t *testing.T, code int, body any) kube.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	assert.NoError(t, err)
	return client
}

// TRK-03, JOB-50: a write may have been stored if a proxy lost the connection, but not if the API server, or an
// admission webhook behind it, refused it, with or without a reason.
func TestAmbiguousAnswers(t *testing.T) {
	status := func(code int, reason metav1.StatusReason) metav1.Status {
		return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "m"}
	}
	for _, c := range []struct {
		code int
		body any
		want bool
	}{
		{http.StatusServiceUnavailable, "upstream connect error or disconnect/reset before headers", true},
		{http.StatusBadGateway, "bad gateway", true},
		{http.StatusGatewayTimeout, "timeout", true},
		{http.StatusNotFound, "404 page not found", false},
		{http.StatusRequestEntityTooLarge, "too large", false},
		{http.StatusTooManyRequests, "Too many requests, please try again later.", false},
		{http.StatusServiceUnavailable, status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable), false},
		{http.StatusInternalServerError, status(http.StatusInternalServerError, metav1.StatusReasonInternalError), true},
		{http.StatusBadRequest, status(http.StatusBadRequest, ""), false},
		{http.StatusForbidden, status(http.StatusForbidden, metav1.StatusReasonForbidden), false},
	} {
		_, err := clientOf(t, c.code, c.body).BatchV1().Jobs("ns").UpdateStatus(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
		if err == nil || IsAmbiguous(err) != c.want {
			t.Errorf("%d %v: ambiguous %v, with %v", c.code, c.body, IsAmbiguous(err), err)
		}
	}
	if !IsAmbiguous(errors.New("connection reset by peer")) {
		t.Error("no answer")
	}
}

// JOB-55, TRK-20: a page of a proxy with the code 200 is neither an empty list, by which everything would be gone, nor
// an object.
func TestOtherServersAnswer(t *testing.T) {
	live, err := NewLive(clientOf(t, http.StatusOK, map[string]string{"state": "maintenance"}), time.Minute, clock.RealClock{}, nil)
	assert.NoError(t, err)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u"}, Spec: batchv1.JobSpec{Selector: &metav1.LabelSelector{}}}
	ref, c := reconcile.PodRef{Name: "p", UID: "u"}, live.Cluster(1)
	jobs, _ := live.JobListWatch("ns")
	pods, _ := live.PodListWatch("ns")
	for name, call := range map[string]func() error{
		"list Jobs for the watch": func() error { _, err := jobs.ListWithContext(t.Context(), metav1.ListOptions{}); return err },
		"list pods for the watch": func() error { _, err := pods.ListWithContext(t.Context(), metav1.ListOptions{}); return err },
		"list pods of a Job":      func() error { _, _, err := c.List.List(t.Context(), job, false); return err },
		"list Jobs":               func() error { _, err := c.Jobs.List(t.Context(), "ns"); return err },
		"get a Job":               func() error { _, err := c.Jobs.Get(t.Context(), "ns", "a"); return err },
		"write status":            func() error { _, err := c.Jobs.UpdateStatus(t.Context(), job); return err },
		"create a pod": func() error {
			_, err := c.Pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}})
			return err
		},
		"create JSON":  func() error { _, err := c.CreateJSON(t.Context(), "ns", []byte("{}")); return err },
		"delete a pod": func() error { _, err := c.Pods.Delete(t.Context(), "ns", ref); return err },
		"patch a pod":  func() error { _, err := c.Pods.Patch(t.Context(), job, ref, ReleasePod); return err },
	} {
		if err := call(); !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
