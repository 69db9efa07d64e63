package play

import (
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// Requirements: FLD-04. The kubelet serves the log of a container in back-off with previous and without, as it has no later one,
// but the log of a container that runs again only with previous.
func TestKubeletServesTheLogsOfRuns(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: "waits", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}},
		{Name: "runs", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}}}
	kubelet := NewKubelet()
	defer kubelet.Close()
	p := Player{Client: fake.NewClientset(pod), Kubelet: kubelet, Namespace: "ns", logs: []recorded.Log{
		{Pod: "a", Container: "waits", Previous: true, Text: "last\n"}, {Pod: "a", Container: "runs", Previous: true, Text: "last\n"},
		{Pod: "gone", Container: "main", Text: "end\n"},
	}}
	assert.NoError(t, p.serveLogs(t.Context()))
	for path, want := range map[string]string{
		"a/waits?previous=true": "last\n", "a/waits": "last\n", "a/runs?previous=true": "last\n", "a/runs": "404 page not found\n", "gone/main": "404 page not found\n",
	} {
		answer, err := kubelet.server.Client().Get(kubelet.server.URL + "/containerLogs/ns/" + path)
		assert.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		if err != nil || string(text) != want || (answer.StatusCode == http.StatusOK) != (want != "404 page not found\n") {
			t.Errorf("%s: %d %q %v", path, answer.StatusCode, text, err)
		}
		_ = answer.Body.Close()
	}
}

// Requirements: FLD-04. A refusal has the words of an admission plugin in the API server.
func TestRefusalNamesThePod(t *testing.T) {
	got := Webhook{Name: refusal, Denies: "is forbidden: no"}.result([]byte(`{"metadata": {"name": "a-x7k2p"}}`))
	if got.Message != `pods "a-x7k2p" is forbidden: no` || got.Reason != metav1.StatusReasonForbidden || got.Code != http.StatusForbidden {
		t.Errorf("%+v", got)
	}
}
