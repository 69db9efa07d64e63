package gather_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/recorded"
)

// answering is a client of a server that answers everything in this way.
func answering(t *testing.T, contentType string, body []byte) kube.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// protobufOf is a list of these pods, which train controls, as the API server encodes it.
func protobufOf(t *testing.T, pods []corev1.Pod) []byte {
	t.Helper()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "42"}}
	for i := range pods {
		pod := pods[i].DeepCopy()
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-train", Controller: ptr.To(true)}}
		list.Items = append(list.Items, *pod)
	}
	var body bytes.Buffer
	codec := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), corev1.SchemeGroupVersion)
	if err := codec.Encode(list, &body); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// recordedPods are all pods that the tests of explanations have.
func recordedPods(t *testing.T) (pods []corev1.Pod) {
	t.Helper()
	files, err := recorded.Files(filepath.Join("..", "analysis", "testdata", "recorded"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c, err := recorded.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, c.Pods...)
	}
	return pods
}

// What is left out of a pod that is read changes neither explanations nor logs. Managed fields are left out, and fields
// that only the API server and nodes need.
func TestPodsAreReadWithTheFieldsThatAreNeeded_POL_06(t *testing.T) {
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
		got, want := explain.PodOf(read[i]), explain.PodOf(whole[i])
		got.Made, want.Made = false, false // It matters for adoption only, which is the controller's.
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%+v\n%+v", want.Name, got, want)
		}
		if got, want := logs.NewPod(read[i]), logs.NewPod(whole[i]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%+v\n%+v", want.Name, got, want)
		}
	}
	last := len(pods) - 1
	if odd := read[last]; odd.ManagedFields != nil || odd.Spec.Containers[0].WorkingDir != "" || odd.Status.PodIP != "" {
		t.Errorf("more is read than what is needed: %+v", odd)
	}
	if odd := whole[last]; len(odd.ManagedFields) != 1 || odd.Spec.Containers[0].WorkingDir != "/work" || odd.Status.PodIP != "10.0.0.1" {
		t.Errorf("a whole pod lacks something: %+v", odd)
	}
}

// An answer that is cut off, or that is no list of pods, is an error, and no panic.
func TestBrokenListsOfPodsAreErrors_POL_06(t *testing.T) {
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
