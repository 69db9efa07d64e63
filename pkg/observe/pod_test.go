package observe

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func at(seconds int64) metav1.Time { return metav1.Unix(1_000_000+seconds, 0) }

func ended(name string, seconds int64) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(seconds)}}}
}

// BLI-26: the finish time, from the best available evidence; never the current time.
func TestFinishTimeIsFromTheBestWitness(t *testing.T) {
	running := corev1.ContainerStatus{Name: "b", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	notReady := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(7)}}
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(7)}}
	sidecar := []corev1.Container{{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}, {Name: "init"}}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   int64
	}{
		"one container": {func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 5)} }, 5},
		"the latest of two": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 9), ended("b", 5)}
		}, 9},
		"both at once": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 5), ended("b", 5)}
		}, 5},
		"no containers known: condition": {func(p *corev1.Pod) {
			p.Status.Conditions = notReady
			p.DeletionTimestamp = ptr.To(at(40))
		}, 7},
		"ready to the end, not deleted: creation": {func(p *corev1.Pod) { p.Status.Conditions = ready }, 1},
		"condition without a time: creation": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
		}, 1},
		"one still runs: condition": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 9), running}
			p.Status.Conditions = notReady
		}, 7},
		"no finish time: condition": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
			p.Status.Conditions = notReady
		}, 7},
		"sidecar ended last": {func(p *corev1.Pod) {
			p.Spec.InitContainers = sidecar
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 5)}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{ended("side", 8), ended("init", 99)}
		}, 8},
		"sidecar still runs: condition": {func(p *corev1.Pod) {
			p.Spec.InitContainers = sidecar
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 5)}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "side"}}
			p.Status.Conditions = notReady
		}, 7},
		"deleted while ready": {func(p *corev1.Pod) {
			p.Status.Conditions = ready
			p.DeletionTimestamp = ptr.To(at(40))
			p.DeletionGracePeriodSeconds = ptr.To[int64](30)
		}, 10},
		"failed by the pod garbage collector: condition": {func(p *corev1.Pod) {
			p.Status.Conditions = append(slices.Clone(ready), corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: at(20)})
		}, 20},
		"never ready, and disrupted: the later condition": {func(p *corev1.Pod) {
			p.Status.Conditions = append(slices.Clone(notReady), corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: at(20)})
		}, 20},
		"disrupted, and not ready afterward: the later condition": {func(p *corev1.Pod) {
			p.Status.Conditions = append(slices.Clone(notReady), corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: at(3)})
		}, 7},
		"deleted, grace unknown":  {func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(at(40)) }, 40},
		"nothing known: creation": {func(*corev1.Pod) {}, 1},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(1)}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
		c.change(pod)
		got := Pod(pod)
		if !got.FinishedAt.Equal(at(c.want).Time) {
			t.Errorf("%s: got %v, want %v", name, got.FinishedAt, at(c.want))
		}
		assert.Equalf(t, got.EndUnknown, (c.want == 1), "%s: the end is unknown", name)
	}
	if got := Pod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(1)}}).FinishedAt; !got.IsZero() {
		t.Errorf("a running pod finished at %v", got)
	}
}

// REG-33, TRK-29: any value of the index annotation gives an index or none.
func TestTamperedIndexIsNoIndex(t *testing.T) {
	for text, want := range map[string]int32{"": reconcile.NoIndex, "0": 0, "17": 17, "-1": reconcile.NoIndex, "x": reconcile.NoIndex, "1.5": reconcile.NoIndex,
		"99999999999": reconcile.NoIndex, " 1": reconcile.NoIndex, "2147483647": 2147483647} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: text}}}
		assert.Equal(t, Pod(pod).Index, want, text)
	}
}

// BLI-05: any value of the failure counts gives a number.
func TestTamperedFailureCountsAreNumbers(t *testing.T) {
	for text, want := range map[string]int32{"": 0, "0": 0, "3": 3, "-1": 0, "x": 0, "1.5": 0, " 1": 0, "1e3": 0, "0x10": 0,
		"2147483647": 2147483647, "2147483648": 0, "99999999999999999999": 0} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{batchv1.JobIndexFailureCountAnnotation: text}}}
		if got := Pod(pod); got.Failures != want || got.Ignored != 0 {
			t.Errorf("%q: got %d and %d, want %d", text, got.Failures, got.Ignored, want)
		}
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{batchv1.JobIndexIgnoredFailureCountAnnotation: text}}}
		if got := Pod(pod); got.Ignored != want || got.Failures != 0 {
			t.Errorf("ignored %q: got %d and %d, want %d", text, got.Ignored, got.Failures, want)
		}
	}
	if got := Pod(&corev1.Pod{}); got.Failures != 0 || got.Ignored != 0 {
		t.Errorf("no annotations: %d and %d", got.Failures, got.Ignored)
	}
}

func exited(name string, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

// PFP-01, PRP-16: the evidence for failure policies is kept for pods that did not succeed, without the decoded strings
// if there are constants.
func TestConditionsOfPodsThatMayFailAreKept(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{
			{Type: corev1.PodConditionType(decoded("DisruptionTarget")), Status: corev1.ConditionStatus(decoded("True"))},
			{Type: "example.com/Own", Status: "Perhaps"},
		}, ContainerStatuses: []corev1.ContainerStatus{exited("a", 0), exited("b", 3)}}}
		var want []failurepolicy.Condition
		if phase != corev1.PodSucceeded {
			want = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}, {Type: "example.com/Own", Status: "Perhaps"}}
		}
		got := Pod(pod).Conditions
		assert.SlicesEqual(t, got, want, phase)
		containers := map[corev1.PodPhase]int{corev1.PodFailed: 2, corev1.PodRunning: 1}[phase]
		if list := Pod(pod).Terminated; len(list) != containers || containers == 1 && list[0].ExitCode != 3 {
			t.Errorf("%s: containers %v", phase, list)
		}
		if phase == corev1.PodFailed && unsafe.StringData(string(got[0].Type)) != unsafe.StringData(string(corev1.DisruptionTarget)) {
			t.Error("the decoded string is kept")
		}
	}
}

// decoded returns a copy of a string in new memory.
func decoded(s string) string { return strings.Clone(s) }

// TRK-23, JOB-38: only a controller reference to a batch/v1 Job counts.
func TestOnlyAControllingJobOwnsAPod(t *testing.T) {
	for name, c := range map[string]struct {
		ref  metav1.OwnerReference
		want string
	}{
		"Job":            {metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", UID: "u", Controller: ptr.To(true)}, "u"},
		"not controller": {metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", UID: "u"}, ""},
		"other group":    {metav1.OwnerReference{APIVersion: "batch.example.com/v1", Kind: "Job", UID: "u", Controller: ptr.To(true)}, ""},
		"other kind":     {metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", UID: "u", Controller: ptr.To(true)}, ""},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{c.ref}}}
		assert.Equal(t, string(JobUID(pod)), c.want, name)
	}
}

func TestIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		meta metav1.ObjectMeta
		want bool
	}{
		"alive":       {metav1.ObjectMeta{}, false},
		"terminating": {metav1.ObjectMeta{DeletionTimestamp: ptr.To(at(1)), DeletionGracePeriodSeconds: ptr.To[int64](30)}, false},
		"held":        {metav1.ObjectMeta{DeletionTimestamp: ptr.To(at(1)), DeletionGracePeriodSeconds: ptr.To[int64](0), Finalizers: []string{"x"}}, false},
		"gone":        {metav1.ObjectMeta{DeletionTimestamp: ptr.To(at(1)), DeletionGracePeriodSeconds: ptr.To[int64](0)}, true},
	} {
		assert.Equal(t, IsGone(&c.meta), c.want, name)
	}
}

// JOB-16, CLI-04: of restarted containers, a failed one is the evidence; app containers come first.
func TestFailedContainerExplainsARestart(t *testing.T) {
	status := func(name string, restarts, code int32) corev1.ContainerStatus {
		s := corev1.ContainerStatus{Name: name, RestartCount: restarts}
		if restarts > 0 {
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}
		}
		return s
	}
	forgotten := status("main", 2, 1)
	forgotten.LastTerminationState.Terminated = nil
	lost := status("main", 1, 0)
	lost.LastTerminationState.Terminated = nil
	lost.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
	again := status("main", 1, 7)
	again.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 8, Reason: "Error"}
	for name, tc := range map[string]struct {
		init, app []corev1.ContainerStatus
		want      *failurepolicy.Container
	}{
		"no restart":             {nil, []corev1.ContainerStatus{status("main", 0, 0)}, nil},
		"one":                    {nil, []corev1.ContainerStatus{status("side", 0, 0), status("main", 1, 7)}, &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}},
		"the first that failed":  {nil, []corev1.ContainerStatus{status("a", 1, 0), status("b", 1, 3), status("c", 1, 4)}, &failurepolicy.Container{Name: "b", ExitCode: 3, Reason: "Error"}},
		"an init container":      {[]corev1.ContainerStatus{status("fetch", 2, 5)}, []corev1.ContainerStatus{status("main", 0, 0)}, &failurepolicy.Container{Name: "fetch", ExitCode: 5, Reason: "Error"}},
		"app containers first":   {[]corev1.ContainerStatus{status("fetch", 2, 5)}, []corev1.ContainerStatus{status("main", 1, 7)}, &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}},
		"none failed":            {[]corev1.ContainerStatus{status("proxy", 1, 0)}, []corev1.ContainerStatus{status("main", 1, 0)}, &failurepolicy.Container{Name: "main", Reason: "Error"}},
		"an end that is unknown": {nil, []corev1.ContainerStatus{forgotten}, nil},
		"an end that was lost":   {nil, []corev1.ContainerStatus{lost}, &failurepolicy.Container{Name: "main", ExitCode: 137, Reason: "ContainerStatusUnknown"}},
		"ended again":            {nil, []corev1.ContainerStatus{again}, &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, InitContainerStatuses: tc.init, ContainerStatuses: tc.app}}
		assert.DeepEqual(t, Pod(pod).Restarted, tc.want, name)
	}
}

// PFP-01, ADR 0012: a pod in phase Failed with a container that is reported as running, or as waiting to run again, is
// unreported.
func TestFailedPodWithRunningContainersIsUnreported(t *testing.T) {
	runs := []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	ended := []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}}
	again := []corev1.ContainerStatus{{
		Name: "main", RestartCount: 1, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}},
	}}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   bool
	}{
		"running":           {corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: runs}, false},
		"failed, runs":      {corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: runs}, true},
		"failed, init runs": {corev1.PodStatus{Phase: corev1.PodFailed, InitContainerStatuses: runs, ContainerStatuses: ended}, true},
		"failed, waits":     {corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: again}, true},
		"failed":            {corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: ended}, false},
		"never started":     {corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}}, false},
		"rejected":          {corev1.PodStatus{Phase: corev1.PodFailed}, false},
		"succeeded":         {corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: ended}, false},
	} {
		assert.Equal(t, Pod(&corev1.Pod{Status: tc.status}).Unreported, tc.want, name)
	}
}
