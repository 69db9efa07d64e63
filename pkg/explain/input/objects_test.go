package input_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-06: events of both APIs are read.
func TestEventsOfBothAPIsAreRead(t *testing.T) {
	about := corev1.ObjectReference{Kind: "Pod", Name: "train-x", UID: "u"}
	micro := func(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(explaintest.Noon.Add(-d)) }
	for name, tc := range map[string]struct {
		event corev1.Event
		want  input.Event
	}{
		"core": {
			corev1.Event{InvolvedObject: about, Type: "Warning", Reason: "Failed", Message: "m", Count: 3, FirstTimestamp: explaintest.Ago(time.Hour), LastTimestamp: explaintest.Ago(time.Minute), Source: corev1.EventSource{Component: "kubelet"}},
			input.Event{Pod: "train-x", PodUID: "u", Type: "Warning", Reason: "Failed", Message: "m", Count: 3, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Minute), Source: "kubelet"},
		},
		"events.k8s.io, once": {
			corev1.Event{InvolvedObject: about, EventTime: micro(time.Hour), ReportingController: "default-scheduler"},
			input.Event{Pod: "train-x", PodUID: "u", Count: 1, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Hour), Source: "default-scheduler"},
		},
		"events.k8s.io, a series": {
			corev1.Event{InvolvedObject: about, EventTime: micro(time.Hour), Series: &corev1.EventSeries{Count: 7, LastObservedTime: micro(time.Second)}},
			input.Event{Pod: "train-x", PodUID: "u", Count: 7, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Second)},
		},
		"no time but that of the object": {
			corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: explaintest.Ago(time.Hour)}},
			input.Event{Count: 1, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Hour)},
		},
		"only the last time": {
			corev1.Event{LastTimestamp: explaintest.Ago(time.Hour)},
			input.Event{Count: 1, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Hour)},
		},
		"a series without a time": {
			corev1.Event{FirstTimestamp: explaintest.Ago(time.Hour), LastTimestamp: explaintest.Ago(time.Minute), Count: 9, Series: &corev1.EventSeries{Count: 2}},
			input.Event{Count: 9, First: explaintest.Noon.Add(-time.Hour), Last: explaintest.Noon.Add(-time.Minute)},
		},
		"of the Job": {
			corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "train"}, FirstTimestamp: explaintest.Ago(0), Count: -4},
			input.Event{Count: 1, First: explaintest.Noon, Last: explaintest.Noon},
		},
	} {
		assert.Equal(t, input.EventOf(&tc.event), tc.want, name)
	}
}

// Long messages are cut to valid text.
// Requirements: CLI-06
func TestLongMessagesAreCut(t *testing.T) {
	long := strings.Repeat("ä€", 2000)
	e := input.EventOf(&corev1.Event{Message: long})
	p := explaintest.PodOf("x", func(p *corev1.Pod) { p.Status.Message = "a" + long })
	for _, text := range []string{e.Message, p.Message} {
		if len(text) < 4000 || len(text) > 4096 || !utf8.ValidString(text) {
			t.Errorf("%d bytes are kept, valid UTF-8: %v, …%q", len(text), utf8.ValidString(text), text[len(text)-6:])
		}
	}
}

// Requirements: CLI-06
func TestLeaseIsRead(t *testing.T) {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "s", Name: "n"}}
	assert.Equal(t, input.LeaseOf(l), (input.Lease{Namespace: "s", Name: "n", Duration: 15 * time.Second}))
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me"), LeaseDurationSeconds: ptr.To[int32](7), RenewTime: ptr.To(metav1.NewMicroTime(explaintest.Noon))}
	assert.Equal(t, input.LeaseOf(l), (input.Lease{Namespace: "s", Name: "n", Holder: "me", Renewed: explaintest.Noon, Duration: 7 * time.Second}))
}

// Requirements: PRP-23
func TestNodeThatIsNotReadyIsTrouble(t *testing.T) {
	for _, tc := range []struct {
		status corev1.ConditionStatus
		want   string
	}{{corev1.ConditionTrue, ""}, {corev1.ConditionUnknown, "it does not respond"}, {corev1.ConditionFalse, "it is not ready (KubeletNotReady)"}} {
		node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "Fine"},
			{Type: corev1.NodeReady, Status: tc.status, Reason: "KubeletNotReady"},
		}}}
		assert.Equal(t, input.NodeTrouble(node), tc.want, tc.status)
	}
	assert.Equal(t, input.NodeTrouble(&corev1.Node{}), "", "a node that is new")
}

// Requirements: CLI-04
func TestPodIsRead(t *testing.T) {
	p := explaintest.PodOf("train-0-x", func(p *corev1.Pod) {
		explaintest.OnIndex(4, 3, explaintest.Exits(137, "OOMKilled", time.Minute))(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(-20*time.Second)), ptr.To[int64](30)
		p.Finalizers = []string{"batch.kubernetes.io/job-tracking", "example.com/keep"}
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: explaintest.Ago(time.Minute)},
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "make room"},
		}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{
			{Name: "setup", RestartCount: 2, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}}},
			{Name: "runs", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	})
	if p.Attempt != 3 || p.Index != 4 || p.Grace != 30*time.Second || !p.DeletedAt.Equal(explaintest.Noon.Add(-10*time.Second)) {
		t.Errorf("attempt %d of index %d, grace %v from %v", p.Attempt, p.Index, p.Grace, p.DeletedAt)
	}
	if len(p.ForeignFinalizers) != 1 || p.ForeignFinalizers[0] != "example.com/keep" || len(p.Gates) != 1 {
		t.Errorf("finalizers %v, gates %v", p.ForeignFinalizers, p.Gates)
	}
	if !p.Scheduling || p.Unschedulable != "Unschedulable" || p.Disruption != "PreemptionByScheduler" || p.DisruptionMessage != "make room" {
		t.Errorf("%+v", p)
	}
	if len(p.Containers) != 2 || p.Containers[0].ExitCode != 137 || p.Containers[0].Before {
		t.Fatalf("%+v", p.Containers)
	}
	if c := p.Containers[1]; !c.Init || !c.Before || c.ExitCode != 3 || c.Restarts != 2 || c.Waiting != "CrashLoopBackOff" {
		t.Errorf("%+v", c)
	}
}

// The attempt is the number that our controller wrote, or is derived from the built-in controller's annotations.
// Requirements: BLI-05
func TestAttemptIsReadOrDerived(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        int32
	}{
		"ours":               {map[string]string{"batchjob.dev/attempt": "4", "batch.kubernetes.io/job-index-failure-count": "1"}, 4},
		"built-in":           {map[string]string{"batch.kubernetes.io/job-index-failure-count": "2", "batch.kubernetes.io/job-index-ignored-failure-count": "1"}, 4},
		"nothing":            {nil, 0},
		"nonsense":           {map[string]string{"batchjob.dev/attempt": "-1"}, 0},
		"more than there is": {map[string]string{"batch.kubernetes.io/job-index-failure-count": "2147483647"}, 2147483647},
	} {
		assert.Equal(t, explaintest.PodOf("x", func(p *corev1.Pod) { p.Annotations = tc.annotations }).Attempt, tc.want, name)
	}
}
