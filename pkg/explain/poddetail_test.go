package explain_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// detailed returns a pod with an init container that has ended, a restarted container, a waiting one, and an ephemeral
// container for debugging.
func detailed() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train-0-abcde", UID: "pod-uid", CreationTimestamp: explaintest.Ago(10 * time.Minute)},
		Spec: corev1.PodSpec{
			NodeName:            "node-1",
			InitContainers:      []corev1.Container{{Name: "fetch", Image: "fetch:1"}},
			Containers:          []corev1.Container{{Name: "main", Image: "train:1"}, {Name: "side", Image: "side:2"}, {Name: "new", Image: "new:3"}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"}}},
		},
	}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Reason: "Why", Message: explaintest.Hostile + strings.Repeat("x", 5000),
		Conditions: []corev1.PodCondition{
			{Type: "Ready", Status: "False", Reason: "ContainersNotReady", Message: explaintest.Hostile, LastTransitionTime: explaintest.Ago(time.Minute)},
			{Type: "Custom", Status: "Unknown", Message: strings.Repeat("é", 3000)},
		},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "fetch", Ready: true, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed", StartedAt: explaintest.Ago(9 * time.Minute), FinishedAt: explaintest.Ago(8 * time.Minute)},
		}}},
		// The kubelet sorts by name, and not by the order in the spec.
		ContainerStatuses: []corev1.ContainerStatus{
			{Name: "side", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: explaintest.Hostile}}},
			{
				Name: "main", Ready: true, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(time.Minute)}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 137, Reason: "OOMKilled", Message: strings.Repeat("m", 5000), StartedAt: explaintest.Ago(5 * time.Minute), FinishedAt: explaintest.Ago(2 * time.Minute),
				}},
			},
		},
		EphemeralContainerStatuses: []corev1.ContainerStatus{{Name: "debugger", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(time.Second)}}}},
	}
	return pod
}

// Issue 6, point 3: the pod's conditions and containers, including the previous run; texts are verbatim, except for their length.
func TestPodDetailHasConditionsAndContainers(t *testing.T) {
	pod := detailed()
	at := func(d time.Duration) *metav1.Time { return ptr.To(explaintest.Ago(d)) }
	want := explain.PodDetail{
		Name: "train-0-abcde", UID: "pod-uid", Node: "node-1", Phase: "Running", State: "ImagePullBackOff", Reason: "Why",
		Message: pod.Status.Message[:4096], Created: at(10 * time.Minute),
		Conditions: []explain.Condition{
			{Type: "Ready", Status: "False", Reason: "ContainersNotReady", Message: explaintest.Hostile, Since: at(time.Minute)},
			{Type: "Custom", Status: "Unknown", Message: strings.Repeat("é", 2048)},
		},
		Containers: []explain.ContainerInfo{
			{Name: "fetch", Init: true, Image: "fetch:1", Ready: true, Now: explain.ContainerRun{State: "Terminated", Reason: "Completed", ExitCode: ptr.To[int32](0), Started: at(9 * time.Minute), Ended: at(8 * time.Minute)}},
			{
				Name: "main", Image: "train:1", Ready: true, Default: true, Restarts: 2, Now: explain.ContainerRun{State: "Running", Started: at(time.Minute)},
				Before: &explain.ContainerRun{State: "Terminated", Reason: "OOMKilled", Message: strings.Repeat("m", 4096), ExitCode: ptr.To[int32](137), Signal: "SIGKILL", Started: at(5 * time.Minute), Ended: at(2 * time.Minute)},
			},
			{Name: "side", Image: "side:2", Now: explain.ContainerRun{State: "Waiting", Reason: "ImagePullBackOff", Message: explaintest.Hostile}},
			{Name: "new", Image: "new:3"},
			{Name: "debugger", Image: "busybox", Now: explain.ContainerRun{State: "Running", Started: at(time.Second)}},
		},
	}
	assert.DeepEqual(t, explain.PodDetailOf(pod, nil), want)
}

// The default container is the same as kubectl's.
func TestPodDetailHasKubectlsDefaultContainer(t *testing.T) {
	for _, tc := range []struct{ annotation, want string }{{"", "main"}, {"side", "side"}, {"fetch", "fetch"}, {"debugger", "debugger"}, {"nobody", "main"}} {
		pod := detailed()
		pod.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": tc.annotation}
		var got []string
		for _, c := range explain.PodDetailOf(pod, nil).Containers {
			if c.Default {
				got = append(got, c.Name)
			}
		}
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("annotation %q: %v, want %s", tc.annotation, got, tc.want)
		}
	}
	if d := explain.PodDetailOf(&corev1.Pod{}, nil); len(d.Containers) > 0 || d.State != "Pending" {
		t.Errorf("of an empty pod: %+v", d)
	}
}

// Events are in the order of time, without events of other pods, or of an earlier pod with the same name.
func TestPodDetailLeavesOutOtherEvents(t *testing.T) {
	pod := detailed()
	about := func(reason string, last time.Duration, change func(*input.Event)) input.Event {
		e := input.Event{Pod: pod.Name, PodUID: pod.UID, Type: "Normal", Reason: reason, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-last)}
		if change != nil {
			change(&e)
		}
		return e
	}
	events := []input.Event{
		about("third", time.Minute, func(e *input.Event) {
			e.Type, e.Count, e.Message, e.Source = "Warning", 7, explaintest.Hostile, "kubelet"
		}),
		about("of the Job", 0, func(e *input.Event) { e.Pod, e.PodUID = "", "" }),
		about("first", 3*time.Minute, nil),
		about("of another", 0, func(e *input.Event) { e.Pod = "train-1-abcde" }),
		about("of the pod before", 0, func(e *input.Event) { e.PodUID = "older" }),
		about("second", 2*time.Minute, func(e *input.Event) { e.PodUID = "" }),
	}
	got := explain.PodDetailOf(pod, events).Events
	want := []explain.PodEvent{
		{First: explaintest.Ago(time.Hour), Last: explaintest.Ago(3 * time.Minute), Count: 1, Reason: "first"},
		{First: explaintest.Ago(time.Hour), Last: explaintest.Ago(2 * time.Minute), Count: 1, Reason: "second"},
		{First: explaintest.Ago(time.Hour), Last: explaintest.Ago(time.Minute), Count: 7, Warning: true, Reason: "third", Message: explaintest.Hostile, Source: "kubelet"},
	}
	assert.DeepEqual(t, got, want)
}

// BenchmarkPodDetail measures a pod of three containers with twenty events among as many others.
func BenchmarkPodDetail(b *testing.B) {
	pod := detailed()
	var events []input.Event
	for i := range 40 {
		e := input.Event{Pod: pod.Name, PodUID: pod.UID, Reason: "Pulled", Last: explaintest.Noon.Add(-time.Duration(i*7%40) * time.Second)}
		if i%2 == 0 {
			e.Pod = "another"
		}
		events = append(events, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = explain.PodDetailOf(pod, events)
	}
}
