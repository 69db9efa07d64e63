package kube_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func wholePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "ns1", UID: "u", Labels: map[string]string{"x": "y"}, Finalizers: []string{"f1", "f2"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "i"}, {Name: "side", Image: "j"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", Image: "i", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}},
		}},
	}
}

// somePaths are fields at every depth: whole messages, and some fields of messages and of the elements of lists.
var somePaths = []string{"metadata.name", "metadata.finalizers", "spec.containers.name", "status.phase", "status.containerStatuses.name", "status.containerStatuses.state"}

func somePod() corev1.Pod {
	pod := wholePod()
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: pod.Finalizers},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}, {Name: "side"}}},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", State: pod.Status.ContainerStatuses[0].State},
		}},
	}
}

// Requirements: IDL-08
func TestFieldsOfPodsAreRead(t *testing.T) {
	message, err := wholePod().Marshal()
	assert.NoError(t, err)
	some, err := kube.FieldsOf[corev1.Pod](somePaths...).AppendTo(nil, message)
	assert.NoError(t, err)
	var got corev1.Pod
	if err := got.Unmarshal(some); err != nil || !reflect.DeepEqual(got, somePod()) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, somePod())
	}
	for cut := range message {
		// A truncated message is an error, or has fewer fields.
		if some, err := kube.FieldsOf[corev1.Pod](somePaths...).AppendTo(nil, message[:cut]); err == nil {
			if err := new(corev1.Pod).Unmarshal(some); err != nil {
				t.Errorf("cut off after %d: %v", cut, err)
			}
		}
	}
}

func TestFieldsMustExist(t *testing.T) {
	for _, path := range []string{"metadata.nome", "kind", "status.phase.x", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is a field of a pod", path)
				}
			}()
			kube.FieldsOf[corev1.Pod](path)
		}()
	}
}

// FuzzFields: the selected part of any message is a message with the same values in these fields.
func FuzzFields(f *testing.F) {
	message, _ := wholePod().Marshal()
	f.Add(message)
	f.Add([]byte{})
	fields := kube.FieldsOf[corev1.Pod](somePaths...)
	f.Fuzz(func(t *testing.T, message []byte) {
		var whole, some corev1.Pod
		if whole.Unmarshal(message) != nil {
			t.Skip()
		}
		kept, err := fields.AppendTo(nil, message)
		if err != nil {
			t.Skip() // It is stricter with groups, which no API message has.
		}
		assert.NoError(t, some.Unmarshal(kept))
		if some.Name != whole.Name || some.Status.Phase != whole.Status.Phase || len(some.Spec.Containers) != len(whole.Spec.Containers) ||
			!reflect.DeepEqual(some.Finalizers, whole.Finalizers) {
			t.Errorf("%+v\n%+v", some, whole)
		}
	})
}

// encoded returns an object as the API server sends it.
func encoded(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	var body bytes.Buffer
	codec := kube.Codecs.EncoderForVersion(protobuf.NewSerializer(kube.Scheme, kube.Scheme), corev1.SchemeGroupVersion)
	assert.NoError(t, codec.Encode(object, &body))
	return body.Bytes()
}

// frames returns watch events in protobuf.
func frames(t *testing.T, objects ...runtime.Object) (stream []byte) {
	for _, object := range objects {
		event := metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: encoded(t, object)}}
		if _, isStatus := object.(*metav1.Status); isStatus {
			event.Type = string(watch.Error)
		}
		data, err := event.Marshal()
		assert.NoError(t, err)
		stream = append(stream, 0, 0, byte(len(data)>>8), byte(len(data)))
		stream = append(stream, data...)
	}
	return stream
}

// A client with fields decodes these and no others, in every call; objects other than pods are decoded completely.
// Requirements: IDL-08
func TestClientReadsOnlyTheseFieldsOfPods(t *testing.T) {
	whole, want := wholePod(), somePod()
	gone := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone}
	answers := map[string][]byte{
		"one": encoded(t, whole), "list": encoded(t, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*whole, *whole}}),
		"watch": frames(t, whole, gone), "status": encoded(t, gone), "cut": encoded(t, whole)[:60],
		"node": encoded(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}}}),
	}
	next := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		if next == "json" {
			w.Header().Set("Content-Type", runtime.ContentTypeJSON)
			_, _ = io.WriteString(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns1"}}`)
			return
		}
		if next == "watch" {
			w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
		}
		if next == "status" {
			w.WriteHeader(http.StatusGone)
		}
		_, _ = w.Write(answers[next])
	}))
	defer server.Close()
	client, err := kube.NewForPods(&rest.Config{Host: server.URL, QPS: -1}, kube.FieldsOf[corev1.Pod](somePaths...))
	assert.NoError(t, err)
	pods := client.CoreV1().Pods("ns1")

	next = "one"
	if got, err := pods.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%v\n%+v", err, got)
	}
	if got, err := pods.Create(t.Context(), whole, metav1.CreateOptions{}); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%v\n%+v", err, got)
	}
	next = "list"
	if got, err := pods.List(t.Context(), metav1.ListOptions{}); err != nil || got.ResourceVersion != "7" || !reflect.DeepEqual(got.Items, []corev1.Pod{want, want}) {
		t.Errorf("%v\n%+v", err, got)
	}
	next = "watch"
	watched, err := pods.Watch(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
	if event := <-watched.ResultChan(); event.Type != watch.Modified || !reflect.DeepEqual(event.Object, &want) {
		t.Errorf("%+v", event)
	}
	if event := <-watched.ResultChan(); event.Type != watch.Error || event.Object.(*metav1.Status).Code != http.StatusGone {
		t.Errorf("%+v", event)
	}
	next = "json"
	if got, err := pods.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || got.Namespace != "ns1" {
		t.Errorf("%v\n%+v", err, got)
	}
	next = "node"
	if got, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{}); err != nil || got.Labels["a"] != "b" {
		t.Errorf("%v\n%+v", err, got)
	}
	next = "status"
	if _, err := pods.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("%v", err)
	}
	next = "cut"
	if got, err := pods.Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
		t.Errorf("a pod that is cut off: %+v", got)
	}
}

// Of a foreign pod, only the identity is decoded, in a watch and in a list; of any other pod, the client's fields.
// Requirements: IDL-01
func TestForeignPodsAreIdentifiedOnly(t *testing.T) {
	owned := func(by types.UID) *corev1.Pod {
		pod := wholePod()
		pod.UID, pod.ResourceVersion = "pod-of-"+by, "5"
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Config", Name: "x", UID: "x"}, {APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: by, Controller: ptr.To(true)}}
		return pod
	}
	ours, theirs, bare := owned("ours"), owned("theirs"), wholePod()
	answer := frames(t, theirs, ours, bare)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		if r.URL.Query().Get("watch") != "" {
			w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
			_, _ = w.Write(answer)
			return
		}
		_, _ = w.Write(encoded(t, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*theirs, *ours, *bare}}))
	}))
	defer server.Close()
	foreign := func(pod types.UID, controller *metav1.OwnerReference) bool {
		return pod == "pod-of-theirs" && controller.Kind == "Job" && controller.UID == "theirs"
	}
	identified := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns1", UID: theirs.UID, ResourceVersion: "5", OwnerReferences: theirs.OwnerReferences}}
	for name, c := range map[string]struct {
		fields kube.Fields
		want   []corev1.Pod
	}{
		"all fields":  {nil, []corev1.Pod{identified, *ours, *bare}},
		"some fields": {kube.FieldsOf[corev1.Pod](somePaths...), []corev1.Pod{identified, somePod(), somePod()}},
	} {
		client, err := kube.NewForPods(&rest.Config{Host: server.URL, QPS: -1}, c.fields)
		assert.NoError(t, err)
		if client, err = kube.WithoutForeign(client, foreign); err != nil {
			t.Fatal(err)
		}
		list, err := client.CoreV1().Pods("ns1").List(t.Context(), metav1.ListOptions{})
		if err != nil || list.ResourceVersion != "7" || !reflect.DeepEqual(list.Items, c.want) {
			t.Errorf("%s: list: %v\n%+v\nwant\n%+v", name, err, list.Items, c.want)
		}
		watched, err := client.CoreV1().Pods("ns1").Watch(t.Context(), metav1.ListOptions{})
		assert.NoError(t, err)
		for i := range c.want {
			if event := <-watched.ResultChan(); !reflect.DeepEqual(event.Object, &c.want[i]) {
				t.Errorf("%s: event %d: %+v", name, i, event)
			}
		}
		watched.Stop()
	}
}
