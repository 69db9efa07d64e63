package gather_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// answering returns a client of a server that gives every request the same response.
func answering(t *testing.T, contentType string, body []byte) kube.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	assert.NoError(t, err)
	return client
}

// protobufOf returns a list of these pods, controlled by train, as the API server encodes it.
func protobufOf(t *testing.T, pods []corev1.Pod) []byte { return protobufPage(t, pods, "") }

// protobufPage returns a page of such a list; next is the continue token.
func protobufPage(t *testing.T, pods []corev1.Pod, next string) []byte {
	t.Helper()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "42", Continue: next}}
	for i := range pods {
		pod := pods[i].DeepCopy()
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-train", Controller: ptr.To(true)}}
		list.Items = append(list.Items, *pod)
	}
	var body bytes.Buffer
	codec := kube.Codecs.EncoderForVersion(protobuf.NewSerializer(kube.Scheme, kube.Scheme), corev1.SchemeGroupVersion)
	assert.NoError(t, codec.Encode(list, &body))
	return body.Bytes()
}

// recordedPods returns all pods in the test data of explanations.
func recordedPods(t *testing.T) (pods []corev1.Pod) {
	t.Helper()
	files, err := recorded.Files(filepath.Join("..", "analysis", "testdata", "recorded"))
	assert.NoError(t, err)
	for _, file := range files {
		c, err := recorded.Load(file)
		assert.NoError(t, err)
		pods = append(pods, c.Pods...)
	}
	return pods
}

// The fields left out when pods are read change neither explanations nor logs: managed fields, and fields that only the API
// server and nodes need.
// Requirements: POL-06
func TestPodsAreReadWithTheFieldsThatAreNeeded(t *testing.T) {
	pods := recordedPods(t)
	always := corev1.ContainerRestartPolicyAlways
	pods = append(pods, corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "odd", UID: "uid-odd", Finalizers: []string{"example.com/keep"}, DeletionTimestamp: ptr.To(ago(0)), DeletionGracePeriodSeconds: ptr.To[int64](30),
			Annotations:   map[string]string{"kubectl.kubernetes.io/default-container": "main"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1("{}")}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", SchedulingGates: []corev1.PodSchedulingGate{{Name: "quota"}}, RestartPolicy: corev1.RestartPolicyOnFailure,
			InitContainers: []corev1.Container{{Name: "proxy", Image: "proxy:1", RestartPolicy: &always}}, Containers: []corev1.Container{{Name: "main", Image: "main:1", WorkingDir: "/work"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodFailed, Reason: "Evicted", Message: "disk pressure", PodIP: "10.0.0.1",
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(9)}}}},
		},
	})
	client := answering(t, runtime.ContentTypeProtobuf, protobufOf(t, pods))
	var whole, read []*corev1.Pod
	keep := func(to *[]*corev1.Pod) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { *to = append(*to, pod.DeepCopy()) }
	}
	version, err := gather.EachPod(t.Context(), client, train(), func() {}, keep(&read))
	if _, wholeErr := gather.EachWholePod(t.Context(), client, train(), func() {}, keep(&whole)); err != nil || wholeErr != nil || version != "42" {
		t.Fatalf("version %q, %v, %v", version, err, wholeErr)
	}
	if len(read) != len(pods) || len(whole) != len(pods) {
		t.Fatalf("%d and %d pods are read, of %d", len(read), len(whole), len(pods))
	}
	for i := range read {
		got, want := input.PodOf(read[i]), input.PodOf(whole[i])
		got.Made, want.Made = false, false // It matters only for adoption by the controller.
		assert.DeepEqual(t, got, want, want.Name)
		assert.DeepEqual(t, logs.NewPod(read[i]), logs.NewPod(whole[i]))
	}
	last := len(pods) - 1
	if odd := read[last]; odd.ManagedFields != nil || odd.Spec.Containers[0].WorkingDir != "" || odd.Status.PodIP != "" {
		t.Errorf("more is read than what is needed: %+v", odd)
	}
	if odd := whole[last]; len(odd.ManagedFields) != 1 || odd.Spec.Containers[0].WorkingDir != "/work" || odd.Status.PodIP != "10.0.0.1" {
		t.Errorf("a whole pod lacks something: %+v", odd)
	}
}

// A response that is truncated, or that is not a list of pods, is an error and does not panic.
// Requirements: POL-06
func TestBrokenListsOfPodsAreErrors(t *testing.T) {
	body := protobufOf(t, []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID("uid-a")}, Status: corev1.PodStatus{Message: strings.Repeat("x", 200)}}})
	const trailer = 4 // The API server ends with two empty fields.
	for size := len("k8s\x00") + 1; size < len(body)-trailer; size++ {
		count := 0
		_, err := gather.EachPod(t.Context(), answering(t, runtime.ContentTypeProtobuf, body[:size]), train(), func() {}, func(*corev1.Pod) { count++ })
		if err == nil && count > 0 {
			t.Fatalf("%d of %d bytes: %d pods", size, len(body), count)
		}
	}
	if _, err := gather.EachPod(t.Context(), answering(t, "text/html", []byte("<html>")), train(), func() {}, func(*corev1.Pod) {}); err == nil {
		t.Error("a page of HTML is a list of pods")
	}
}

// pagedPods responds with pages of one pod each, in protobuf. before is called for each page after the continue token has
// been sent, and before its pod is sent.
type pagedPods struct {
	pages  int
	before func(page int, r *http.Request)
	refuse func(page int) (int, metav1.StatusReason)
}

func (s *pagedPods) client(t *testing.T) kube.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		page, _ := strconv.Atoi(strings.TrimPrefix(query.Get("continue"), "token-"))
		if s.refuse != nil && query.Get("limit") != "" {
			if code, reason := s.refuse(page); code != 0 {
				fail(w, code, reason)
				return
			}
		}
		pods, next := []corev1.Pod{pod(fmt.Sprint("train-", page), "uid-train", nil)}, ""
		if page+1 < s.pages {
			next = fmt.Sprint("token-", page+1)
		}
		if query.Get("limit") == "" {
			pods, next = nil, ""
			for i := range s.pages {
				pods = append(pods, pod(fmt.Sprint("train-", i), "uid-train", nil))
			}
		}
		body := protobufPage(t, pods, next)
		begin := bytes.Index(body, []byte(next)) + len(next)
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(body[:begin])
		_ = http.NewResponseController(w).Flush()
		if s.before != nil {
			s.before(page, r)
		}
		_, _ = w.Write(body[begin:])
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	assert.NoError(t, err)
	return client
}

// readNames returns the names of the pods read since reading last began, and how many times it began.
func readNames(ctx context.Context, client kube.Interface) (names []string, begun int, version string, err error) {
	version, err = gather.EachPod(ctx, client, train(), func() { names, begun = nil, begun+1 }, func(pod *corev1.Pod) { names = append(names, pod.Name) })
	return names, begun, version, err
}

// A pod is handled before the rest of its page is sent. Pods come in the order of the pages.
// Requirements: POL-06, POL-02
func TestPodsAreHandledAsTheyArrive(t *testing.T) {
	s := &pagedPods{pages: 9}
	names, begun, version, err := readNames(t.Context(), s.client(t))
	want := []string{"train-0", "train-1", "train-2", "train-3", "train-4", "train-5", "train-6", "train-7", "train-8"}
	if err != nil || !slices.Equal(names, want) || begun != 1 || version != "42" {
		t.Errorf("%q, begun %d times, version %q, %v", names, begun, version, err)
	}

	body := protobufOf(t, []corev1.Pod{pod("a", "uid-train", nil), pod("b", "uid-train", nil)})
	handled := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(body[:len(body)-10])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-handled:
		case <-r.Context().Done():
		}
		_, _ = w.Write(body[len(body)-10:])
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	assert.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first := sync.OnceFunc(func() { close(handled) })
	if _, err := gather.EachPod(ctx, client, train(), func() {}, func(*corev1.Pod) { first() }); err != nil {
		t.Error(err)
	}
}

// Requirements: CLI-08, POL-06
func TestRefusedPagesOfPods(t *testing.T) {
	for name, tc := range map[string]struct {
		from      int // the first page that is refused
		code      int
		reason    metav1.StatusReason
		begun     int
		is        func(error) bool
		wantNames int
	}{
		"a token that expires":             {5, http.StatusGone, metav1.StatusReasonExpired, 2, nil, 9},
		"a token that expires at once":     {1, http.StatusGone, metav1.StatusReasonExpired, 2, nil, 9},
		"expired without a token":          {0, http.StatusGone, metav1.StatusReasonExpired, 1, apierrors.IsResourceExpired, 0},
		"permission that is taken away":    {4, http.StatusForbidden, metav1.StatusReasonForbidden, 1, apierrors.IsForbidden, 4},
		"no permission":                    {0, http.StatusForbidden, metav1.StatusReasonForbidden, 1, apierrors.IsForbidden, 0},
		"an API server that fails midways": {3, http.StatusInternalServerError, metav1.StatusReasonInternalError, 1, apierrors.IsInternalError, 3},
	} {
		s := &pagedPods{pages: 9, refuse: func(page int) (int, metav1.StatusReason) {
			if page >= tc.from {
				return tc.code, tc.reason
			}
			return 0, ""
		}}
		names, begun, version, err := readNames(t.Context(), s.client(t))
		if (err == nil) != (tc.is == nil) || tc.is != nil && !tc.is(err) || begun != tc.begun || len(names) != tc.wantNames || err == nil && version != "42" {
			t.Errorf("%s: %d pods, begun %d times, version %q, %v", name, len(names), begun, version, err)
		}
	}
}

// A connection lost within a page is an error. So is an interrupt.
// Requirements: CLI-08, POL-06
func TestLostPageOfPodsIsAnError(t *testing.T) {
	s := &pagedPods{pages: 9, before: func(page int, _ *http.Request) {
		if page == 2 {
			panic(http.ErrAbortHandler)
		}
	}}
	if names, _, _, err := readNames(t.Context(), s.client(t)); err == nil || len(names) != 2 {
		t.Errorf("%d pods, %v", len(names), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = &pagedPods{pages: 9, before: func(page int, r *http.Request) {
		if page == 2 {
			cancel()
			<-r.Context().Done()
		}
	}}
	if _, _, _, err := readNames(ctx, s.client(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if names, _, _, err := readNames(ctx, s.client(t)); !errors.Is(err, context.Canceled) || len(names) > 0 {
		t.Errorf("interrupted before: %d pods, %v", len(names), err)
	}
}
