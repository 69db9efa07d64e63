package observe

import (
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// AttemptAnnotation on a pod holds its 1-based attempt, for its completion index or for a NonIndexed Job
// (reconcile.NewPod). All pods that this program created or adopted have it (ADR 0003).
const AttemptAnnotation = "batchjob.dev/attempt"

// PodFields returns the paths of the pod fields that decisions need, for kube.FieldsOf.
func PodFields() []string {
	paths := []string{"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp",
		"metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.labels", "metadata.annotations",
		"metadata.ownerReferences", "metadata.finalizers", "spec.nodeName", "spec.initContainers.name", "spec.initContainers.restartPolicy",
		"status.phase", "status.reason", "status.conditions.type", "status.conditions.status", "status.conditions.reason", "status.conditions.lastTransitionTime"}
	for _, kind := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, field := range []string{"name", "restartCount", "state.running", "state.terminated.exitCode", "state.terminated.reason",
			"state.terminated.finishedAt", "lastState.terminated.exitCode", "lastState.terminated.reason"} {
			paths = append(paths, "status."+kind+"."+field)
		}
	}
	return paths
}

// JobUID returns the UID of the batch/v1 Job that controls the object, or "" if there is none. A Job of another API
// group does not count.
func JobUID(object metav1.Object) types.UID {
	return jobUID(metav1.GetControllerOfNoCopy(object))
}

// jobUID returns the UID of the batch/v1 Job that a reference to a controller names, or "".
func jobUID(owner *metav1.OwnerReference) types.UID {
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return ""
	}
	return owner.UID
}

// Pod returns the parts of a pod that decisions need. The result shares only strings with it.
func Pod(pod *corev1.Pod) reconcile.Pod {
	p := reconcile.Pod{
		UID:             pod.UID,
		Name:            pod.Name,
		ResourceVersion: pod.ResourceVersion,
		Phase:           phase(pod.Status.Phase),
		Index:           CompletionIndex(pod),
		Deleting:        pod.DeletionTimestamp != nil,
		Scheduled:       pod.Spec.NodeName != "",
		Made:            pod.Labels[batchv1.ControllerUidLabel] != "" || isOurs(pod),
		CreatedAt:       pod.CreationTimestamp.Time,
		Restarts:        restarts(pod),
		Failures:        count(pod, batchv1.JobIndexFailureCountAnnotation),
		Ignored:         count(pod, batchv1.JobIndexIgnoredFailureCountAnnotation),
	}
	for _, f := range pod.Finalizers {
		p.Finalizer = p.Finalizer || f == batchv1.JobTrackingFinalizer
	}
	if ready := condition(pod, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionTrue {
		p.Ready, p.ReadySince = true, ready.LastTransitionTime.Time
	}
	if p.Deleting || p.IsTerminal() {
		p.FinishedAt = finishTime(pod)
		if p.EndUnknown = p.FinishedAt.IsZero(); p.EndUnknown {
			p.FinishedAt = pod.CreationTimestamp.Time
		}
	}
	if p.Restarts > 0 {
		p.Restarted = restarted(pod)
	}
	switch {
	case p.Phase == corev1.PodFailed:
		p.Terminated, p.Conditions, p.Reasons = terminated(pod), conditions(pod), reasons(pod)
		p.Unreported = slices.ContainsFunc(slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses), isUnreported)
	case p.Phase != corev1.PodSucceeded:
		// If the Job fails now, the pod counts as failed, unless a rule ignores the failure (PRP-16).
		p.Terminated, p.Conditions, p.Reasons = failedSoFar(pod), conditions(pod), reasons(pod)
	}
	return p
}

// isOurs reports whether this program created or adopted the pod.
func isOurs(pod *corev1.Pod) bool {
	_, ours := pod.Annotations[AttemptAnnotation]
	return ours
}

// failedSoFar returns the containers that failed in a pod that has not ended.
func failedSoFar(pod *corev1.Pod) []failurepolicy.Container {
	return slices.DeleteFunc(terminated(pod), func(c failurepolicy.Container) bool { return c.ExitCode == 0 })
}

func phase(p corev1.PodPhase) corev1.PodPhase {
	if p == "" {
		return corev1.PodPending
	}
	return constant(p, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown)
}

// constant returns the constant equal to the decoded string, so that pods do not each keep a copy.
func constant[S ~string](s S, known ...S) S {
	if i := slices.Index(known, s); i >= 0 {
		return known[i]
	}
	return s
}

// count reads a number of failures from an annotation; anything else is 0 (BLI-05).
func count(pod *corev1.Pod, annotation string) int32 {
	text := pod.Annotations[annotation]
	if text == "" {
		return 0 // Parsing would allocate an error for each pod.
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// Attempt returns the 1-based attempt of the pod: from our annotation, or from the failures that the built-in
// controller counts for Jobs with backoffLimitPerIndex; 0 if the pod has neither.
func Attempt(pod *corev1.Pod) int32 {
	if n := count(pod, AttemptAnnotation); n > 0 {
		return n
	}
	if _, counted := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]; !counted {
		return 0
	}
	failures := count(pod, batchv1.JobIndexFailureCountAnnotation)
	ignored := count(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
	return int32(min(int64(failures)+int64(ignored)+1, math.MaxInt32))
}

// CompletionIndex returns the completion index of the pod, or reconcile.NoIndex.
func CompletionIndex(pod *corev1.Pod) int32 {
	i, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil || i < 0 {
		return reconcile.NoIndex
	}
	return int32(i)
}

func conditions(pod *corev1.Pod) []failurepolicy.Condition {
	out := make([]failurepolicy.Condition, 0, len(pod.Status.Conditions))
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		out = append(out, failurepolicy.Condition{
			Type: constant(c.Type, corev1.DisruptionTarget, corev1.PodReady, corev1.ContainersReady, corev1.PodInitialized,
				corev1.PodScheduled, corev1.PodReadyToStartContainers),
			Status: constant(c.Status, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown),
		})
	}
	return out
}

// reasons returns the reasons for the end of the pod as a whole, or nil if there are none.
func reasons(pod *corev1.Pod) *reconcile.PodReasons {
	failed, disrupted := "", ""
	if pod.Status.Phase == corev1.PodFailed {
		failed = pod.Status.Reason
	}
	if c := condition(pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		disrupted = c.Reason
	}
	if failed == "" && disrupted == "" {
		return nil
	}
	return &reconcile.PodReasons{Failed: failed, Disrupted: disrupted}
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == t {
			return c
		}
	}
	return nil
}

// since returns the time since which a condition has had a status; zero if it has another.
func since(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus) time.Time {
	if c := condition(pod, t); c != nil && c.Status == status {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func restarts(pod *corev1.Pod) int32 {
	n := int32(0)
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			n += list[i].RestartCount
		}
	}
	return n
}

func terminated(pod *corev1.Pod) []failurepolicy.Container {
	var out []failurepolicy.Container
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if t := list[i].State.Terminated; t != nil {
				out = append(out, failurepolicy.Container{Name: list[i].Name, ExitCode: t.ExitCode, Reason: t.Reason})
			}
		}
	}
	return out
}

// isUnreported reports whether the end of a container of a failed pod is not reported yet: the container is still
// reported as running, or as waiting to run again. No further report follows for a container that never ran.
func isUnreported(s corev1.ContainerStatus) bool {
	return s.State.Running != nil || s.State.Terminated == nil && s.LastTerminationState.Terminated != nil
}

// restarted returns the last termination of the first container that failed before its last restart, otherwise of the
// first container that was restarted. If the kubelet has lost that state but counted the restart, the current state is
// used instead.
func restarted(pod *corev1.Pod) *failurepolicy.Container {
	var first *failurepolicy.Container
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			t := list[i].LastTerminationState.Terminated
			if t == nil && list[i].RestartCount > 0 {
				t = list[i].State.Terminated
			}
			if t == nil || first != nil && t.ExitCode == 0 {
				continue
			}
			first = &failurepolicy.Container{Name: list[i].Name, ExitCode: t.ExitCode, Reason: t.Reason}
			if t.ExitCode != 0 {
				return first
			}
		}
	}
	return first
}

// finishTime returns the first of these times that is known (KEP-3850, BLI-26): when the last container ended, when the
// pod stopped being ready or was disrupted, whichever is later, and when its deletion was requested. Otherwise it is
// zero. (The pod garbage collector marks a pod of a deleted node as failed and disrupted before it deletes the pod.)
func finishTime(pod *corev1.Pod) time.Time {
	if t := containersEnded(pod); !t.IsZero() {
		return t
	}
	stopped := since(pod, corev1.PodReady, corev1.ConditionFalse)
	if disrupted := since(pod, corev1.DisruptionTarget, corev1.ConditionTrue); disrupted.After(stopped) {
		stopped = disrupted
	}
	if d := pod.DeletionTimestamp; stopped.IsZero() && d != nil {
		grace := int64(0)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = min(*pod.DeletionGracePeriodSeconds, int64(math.MaxInt64/time.Second))
		}
		return d.Add(-time.Duration(grace) * time.Second)
	}
	return stopped
}

// containersEnded returns the latest end of a container, if all have ended.
// Restartable init containers (sidecars) count, other init containers do not (D-17).
func containersEnded(pod *corev1.Pod) time.Time {
	var latest time.Time
	ended := func(status *corev1.ContainerStatus) bool {
		t := status.State.Terminated
		if t == nil || t.FinishedAt.IsZero() {
			return false
		}
		if t.FinishedAt.After(latest) {
			latest = t.FinishedAt.Time
		}
		return true
	}
	for i := range pod.Status.ContainerStatuses {
		if !ended(&pod.Status.ContainerStatuses[i]) {
			return time.Time{}
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		if isSidecar(pod, status.Name) && !ended(status) {
			return time.Time{}
		}
	}
	return latest
}

func isSidecar(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.Name == name {
			return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

// IsGone reports whether the object that a write returned no longer exists, because its deletion waited only for that
// write.
func IsGone(object metav1.Object) bool {
	grace := object.GetDeletionGracePeriodSeconds()
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}
