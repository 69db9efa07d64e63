package sim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// DeletePod requests the deletion of a pod, if uid is "" or the pod's, with its own grace
// period.
func (s *Store) DeletePod(name string, uid types.UID) (*corev1.Pod, error) {
	var options metav1.DeleteOptions
	if uid != "" {
		options.Preconditions = metav1.NewUIDPreconditions(string(uid))
	}
	return s.DeletePodWith(name, options)
}

// KillPod deletes a pod with a grace period of zero, as the kubelet does with a pod that
// has ended, or a user with --force.
func (s *Store) KillPod(name string) {
	_, _ = s.DeletePodWith(name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}) // It may be gone.
}

// DeletePodWith requests the deletion of a pod with preconditions and a grace period. A
// running pod gets its grace period; one without a node, or that has finished, is gone as
// soon as no finalizer holds it.
func (s *Store) DeletePodWith(name string, options metav1.DeleteOptions) (*corev1.Pod, error) {
	old := s.pods[name]
	if old == nil {
		return nil, apierrors.NewNotFound(podsResource, name)
	}
	if problem := preconditionProblem(old, options.Preconditions); problem != nil {
		return nil, apierrors.NewConflict(podsResource, name, problem)
	}
	pod := editable(old)
	if old.DeletionTimestamp == nil {
		s.markDeleted(pod, options.GracePeriodSeconds)
	} else if !s.deleteSooner(pod, options.GracePeriodSeconds) {
		return s.copy(old), nil
	}
	if ptr.Deref(options.GracePeriodSeconds, 1) == 0 {
		return s.commitPod("kill", pod), nil
	}
	return s.commitPod("delete", pod), nil
}

// markDeleted sets when a pod that is deleted is to be gone.
func (s *Store) markDeleted(pod *corev1.Pod, requested *int64) {
	grace := ptr.Deref(requested, gracePeriod(pod))
	if pod.Spec.NodeName == "" || isTerminal(pod) {
		grace = 0
	}
	grace = atLeastOne(grace)
	setDeletion(pod, s.now().Add(seconds(grace)), grace)
}

// deleteSooner shortens the grace period of a pod that is being deleted. It counts from when the first was requested,
// but does not end in the past.
func (s *Store) deleteSooner(pod *corev1.Pod, requested *int64) bool {
	was := *pod.DeletionGracePeriodSeconds
	grace := atLeastOne(ptr.Deref(requested, was))
	if grace >= was {
		return false
	}
	at := pod.DeletionTimestamp.Add(-seconds(was)).Add(seconds(grace))
	if now := s.now(); at.Before(now) {
		at, grace = now, min(grace, 1)
	}
	setDeletion(pod, at, grace)
	return true
}

func setDeletion(pod *corev1.Pod, at time.Time, grace int64) {
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: at.Truncate(time.Second)}, &grace
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// atLeastOne replaces a negative grace period.
func atLeastOne(grace int64) int64 {
	if grace < 0 {
		return 1
	}
	return grace
}

func preconditionProblem(object metav1.Object, want *metav1.Preconditions) error {
	switch {
	case want == nil:
		return nil
	case want.UID != nil && *want.UID != object.GetUID():
		return fmt.Errorf("the UID in the precondition does not match")
	case want.ResourceVersion != nil && *want.ResourceVersion != object.GetResourceVersion():
		return fmt.Errorf("the ResourceVersion in the precondition does not match")
	}
	return nil
}

func gracePeriod(pod *corev1.Pod) int64 { return ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 30) }

// EvictPod does what the eviction API does: it marks the pod, and deletes it.
func (s *Store) EvictPod(name string) error {
	switch {
	case s.terminating: // An eviction is created.
		return namespaceTerminating(podsResource, name)
	case s.pods[name] == nil:
		return apierrors.NewNotFound(podsResource, name)
	}
	s.EditPod("evict", name, func(p *corev1.Pod) {
		s.setPodCondition(p, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"})
	})
	_, err := s.DeletePod(name, "")
	return err
}
