package explaintest

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// PodOf returns a pod of train that has been running on node-1 for half an hour, with a change.
func PodOf(name string, change func(*corev1.Pod)) *input.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: Ago(30 * time.Minute),
			Finalizers: []string{batchv1.JobTrackingFinalizer},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "train:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if change != nil {
		change(pod)
	}
	return input.PodOf(pod)
}

// Exits ends the pod and its container d ago. The status counts the pod: its finalizer has been removed.
func Exits(code int32, reason string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers = nil
		p.Status.Phase = corev1.PodFailed
		if code == 0 {
			p.Status.Phase = corev1.PodSucceeded
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: Ago(d + time.Minute), FinishedAt: Ago(d)},
		}}}
	}
}

// OnIndex gives a pod with this change a completion index and the number of its attempt.
func OnIndex(index, attempt int32, change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if change != nil {
			change(p)
		}
		p.Annotations = map[string]string{
			batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), "batchjob.dev/attempt": fmt.Sprint(attempt),
			batchv1.JobIndexFailureCountAnnotation: fmt.Sprint(attempt - 1),
		}
	}
}

// WithStatus fails the pod with a reason and a message, and with the condition DisruptionTarget if disruption is set.
func WithStatus(reason, message, disruption, why string, change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers, p.Status.Phase = nil, corev1.PodFailed
		if change != nil {
			change(p)
		}
		p.Status.Reason, p.Status.Message = reason, message
		if disruption != "" {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: disruption, Message: why}}
		}
	}
}

// Running sets whether the pod is ready.
func Running(ready bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}}
		if ready {
			p.Status.Conditions[0].Status = corev1.ConditionTrue
		}
	}
}

// Terminating deletes the pod, d ago, with 30 s of grace.
func Terminating(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		Running(true)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(Ago(d-30*time.Second)), ptr.To[int64](30)
	}
}

// Hostile is a possible text of a cluster: escape sequences, a change of direction, invalid UTF-8.
const Hostile = "\x1b[31m\x1b]0;title\a\u202e\xff%s"

// Memory returns a memory limit.
func Memory(limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}}
}

// RestartedPod restarts the container of the pod after it exited with code, and deletes the pod d ago, unless d is 0.
func RestartedPod(restarts, code int32, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: Ago(11 * time.Minute)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: code, Reason: "Error", Message: "no licence", StartedAt: Ago(12 * time.Minute), FinishedAt: Ago(12*time.Minute - 2*time.Second),
			}},
		}}
		if d > 0 {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(Ago(d-30*time.Second)), ptr.To[int64](30)
		}
	}
}

// Counted removes the finalizer: the status counts the pod.
func Counted(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Finalizers = nil
	}
}

// FailedPod fails a pod, which the status counts.
func FailedPod(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers, p.Status.Phase = nil, corev1.PodFailed
		change(p)
	}
}

// Tracked keeps the finalizer of an ended pod: the status does not count it yet.
func Tracked(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
}

// PendingPod returns pod train-x with a node, and with a waiting container if there is a reason.
func PendingPod(reason, message string) *input.Pod {
	return PodOf("train-x", func(p *corev1.Pod) {
		p.CreationTimestamp = Ago(10 * time.Minute)
		p.Spec.NodeName, p.Status.Phase = "node-1", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		if reason != "" {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
		}
	})
}

// UnscheduledPod returns pod train-x, which the scheduler cannot place, with the scheduler's message.
func UnscheduledPod(message string) *input.Pod {
	return PodOf("train-x", func(p *corev1.Pod) {
		p.CreationTimestamp = Ago(10 * time.Minute)
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message}}
	})
}
