package kube_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// recorder is an API server that records requests and sends no responses.
type recorder struct {
	mu       sync.Mutex
	requests []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, fmt.Sprintf("%s %s accept %q content %q agent %q: %q", q.Method, q.URL, q.Header["Accept"], q.Header["Content-Type"], q.UserAgent(), body))
	http.NotFound(w, q)
}

// objectCalls makes the calls of one resource.
func objectCalls[T, L any](ctx context.Context, o kube.Objects[T, L], object T) {
	list := metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "metadata.name=x", Limit: 3, ResourceVersion: "7", TimeoutSeconds: ptr.To[int64](9)}
	_, _ = o.Create(ctx, object, metav1.CreateOptions{FieldManager: "me", DryRun: []string{"All"}})
	_, _ = o.Update(ctx, object, metav1.UpdateOptions{FieldManager: "me"})
	_, _ = o.Get(ctx, "x", metav1.GetOptions{ResourceVersion: "5"})
	_, _ = o.List(ctx, list)
	_, _ = o.Watch(ctx, list)
	_, _ = o.Patch(ctx, "x", types.MergePatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "me"}, "status")
	_ = o.Delete(ctx, "x", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("u")})
}

// allCalls makes all calls of the client.
func allCalls(ctx context.Context, c kube.Interface) {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "x"}
	for _, namespace := range []string{"ns", ""} {
		objectCalls(ctx, kube.Objects[*batchv1.Job, *batchv1.JobList](c.BatchV1().Jobs(namespace)), &batchv1.Job{ObjectMeta: meta})
		objectCalls(ctx, c.BatchV1().CronJobs(namespace), &batchv1.CronJob{ObjectMeta: meta})
		objectCalls(ctx, kube.Objects[*corev1.Pod, *corev1.PodList](c.CoreV1().Pods(namespace)), &corev1.Pod{ObjectMeta: meta})
		objectCalls(ctx, c.CoreV1().Events(namespace), &corev1.Event{ObjectMeta: meta})
		objectCalls(ctx, c.CoordinationV1().Leases(namespace), &coordinationv1.Lease{ObjectMeta: meta})
	}
	objectCalls(ctx, c.CoreV1().Nodes(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
	_, _ = c.BatchV1().Jobs("ns").UpdateStatus(ctx, &batchv1.Job{ObjectMeta: meta}, metav1.UpdateOptions{})
	_, _ = c.CoreV1().Pods("ns").GetLogs("x", &corev1.PodLogOptions{Container: "c", Previous: true, TailLines: ptr.To[int64](3)}).Stream(ctx)
	_, _ = c.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "t"}}, metav1.CreateOptions{})
	_, _ = c.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{}, metav1.CreateOptions{})
	_, _ = c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
	for _, client := range []rest.Interface{c.CoreV1().RESTClient(), c.BatchV1().RESTClient()} {
		_ = client.Post().Namespace("ns").Resource("things").Do(ctx).Error()
		_ = client.Get().AbsPath("/livez").Do(ctx).Error()
	}
}

func TestRequestsAreThoseOfAClientset(t *testing.T) {
	for name, config := range map[string]rest.Config{
		"as a verb makes it": {},
		"as the controller makes it": {ContentConfig: rest.ContentConfig{
			ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		}, UserAgent: "controller"},
	} {
		record := func(makeClient func(*rest.Config) (kube.Interface, error)) []string {
			api := &recorder{}
			server := httptest.NewServer(api)
			defer server.Close()
			config.Host, config.QPS = server.URL, -1
			client, err := makeClient(&config)
			assert.NoError(t, err)
			allCalls(t.Context(), client)
			return api.requests
		}
		got := record(kube.NewForConfig)
		want := record(func(config *rest.Config) (kube.Interface, error) {
			clientset, err := kubernetes.NewForConfig(config)
			return kubefake.Client(clientset), err
		})
		for i := range want {
			if len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("%s: of %d requests, %d is\n%s\nand of the %d of a Clientset\n%s", name, len(got), i, slices.Concat(got, make([]string, len(want)))[i], len(want), want[i])
			}
		}
		if len(want) < 80 {
			t.Errorf("%s: only %d requests", name, len(want))
		}
	}
}

// The groups share a rate limiter, as in a Clientset.
func TestGroupsShareALimit(t *testing.T) {
	client, err := kube.NewForConfig(&rest.Config{Host: "http://localhost", QPS: 0.001, Burst: 2})
	assert.NoError(t, err)
	core, batch := client.CoreV1().RESTClient().GetRateLimiter(), client.BatchV1().RESTClient().GetRateLimiter()
	if core != batch || !core.TryAccept() || !batch.TryAccept() || core.TryAccept() {
		t.Error("a burst of 2 is not 2 requests for both groups together")
	}
	if _, err := kube.NewForConfig(&rest.Config{Host: "http://localhost", QPS: 1}); err == nil {
		t.Error("a limit without a burst would let no request through")
	}
}

func TestServerVersion(t *testing.T) {
	for body, want := range map[string]string{`{"major":"1","minor":"36","gitVersion":"v1.36.3"}`: "v1.36.3", "no": ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		client, err := kube.NewForConfig(&rest.Config{Host: server.URL, Timeout: time.Minute})
		assert.NoError(t, err)
		info, err := kube.ServerVersion(t.Context(), client)
		if (err == nil) != (want != "") || want != "" && !reflect.DeepEqual(info.GitVersion, want) {
			t.Errorf("%s: %v, %v", body, info, err)
		}
		server.Close()
	}
}
