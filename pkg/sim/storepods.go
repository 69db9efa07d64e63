package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// CreatePod stores a new pod; generated names end in sequential numbers, so that
// traces are readable.
func (s *Store) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	if s.terminating {
		return nil, namespaceTerminating(podsResource, pod.GenerateName)
	}
	if s.quota >= 0 && s.unended() >= s.quota {
		return nil, apierrors.NewForbidden(podsResource, pod.GenerateName, fmt.Errorf("exceeded quota: pods, limited to %d", s.quota))
	}
	pod = editable(s.copy(pod))
	if pod.Name == "" {
		s.names++
		pod.Name = pod.GenerateName + "p" + strconv.Itoa(s.names)
	}
	if s.pods[pod.Name] != nil {
		return nil, apierrors.NewAlreadyExists(podsResource, pod.Name)
	}
	pod.UID = types.UID("uid-" + pod.Name)
	pod.CreationTimestamp = s.timestamp()
	pod.Status.Phase = corev1.PodPending
	return s.commitPod("create", pod), nil
}

// unended counts the pods that use up a quota.
func (s *Store) unended() (n int) {
	for _, pod := range s.pods {
		if !isTerminal(pod) {
			n++
		}
	}
	return n
}

// namespaceTerminating is the answer to a creation in a namespace that is being deleted.
func namespaceTerminating(resource schema.GroupResource, name string) error {
	err := apierrors.NewForbidden(resource, name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", Namespace), Field: "metadata.namespace",
	})
	return err
}

// editable returns a copy that shares with the stored pod only what this package
// never changes: the spec below its first level, and what a container's status points
// to.
func editable(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	out.Labels, out.Annotations = maps.Clone(pod.Labels), maps.Clone(pod.Annotations)
	out.Finalizers, out.OwnerReferences = slices.Clone(pod.Finalizers), slices.Clone(pod.OwnerReferences)
	out.Status.Conditions = slices.Clone(pod.Status.Conditions)
	return &out
}

func indexOf(pod *corev1.Pod) int32 {
	i, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil || i < 0 {
		return reconcile.NoIndex
	}
	return int32(i)
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// DeletePod requests the deletion of a pod, if uid is "" or the pod's. A running pod gets
// its grace period; one without a node, or that has finished, is gone as soon as no
// finalizer holds it.
func (s *Store) DeletePod(name string, uid types.UID) (*corev1.Pod, error) {
	old := s.pods[name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, name)
	case uid != "" && old.UID != uid:
		return nil, apierrors.NewConflict(podsResource, name, fmt.Errorf("the UID in the precondition does not match"))
	case old.DeletionTimestamp != nil:
		return s.copy(old), nil
	}
	grace := gracePeriod(old)
	if old.Spec.NodeName == "" || isTerminal(old) {
		grace = 0
	}
	pod := editable(old)
	at := metav1.NewTime(s.timestamp().Add(time.Duration(grace) * time.Second))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
	return s.commitPod("delete", pod), nil
}

func gracePeriod(pod *corev1.Pod) int64 { return ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 30) }

// KillPod deletes a pod with a grace period of zero, as the kubelet does with a pod that
// has ended, or a user with --force.
func (s *Store) KillPod(name string) {
	old := s.pods[name]
	if old == nil || old.DeletionTimestamp != nil && ptr.Deref(old.DeletionGracePeriodSeconds, 0) == 0 && len(old.Finalizers) > 0 {
		return
	}
	pod := editable(old)
	asked := s.timestamp().Time
	if d := old.DeletionTimestamp; d != nil {
		// A shorter period counts from when the deletion was requested.
		asked = d.Add(-time.Duration(ptr.Deref(old.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: asked}, ptr.To[int64](0)
	s.commitPod("kill", pod)
}

// EvictPod does what the eviction API does: it marks the pod, and deletes it.
func (s *Store) EvictPod(name string) error {
	if s.pods[name] == nil {
		return apierrors.NewNotFound(podsResource, name)
	}
	s.EditPod("evict", name, func(p *corev1.Pod) {
		s.setPodCondition(p, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"})
	})
	_, err := s.DeletePod(name, "")
	return err
}

// setPodCondition adds a condition to an editable pod, or replaces it.
func (s *Store) setPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
	c.LastTransitionTime = s.timestamp()
	if i := slices.IndexFunc(pod.Status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type }); i >= 0 {
		pod.Status.Conditions[i] = c
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}

// PatchPod changes the owner and the finalizer of a pod, with the preconditions of the reference.
func (s *Store) PatchPod(verb string, ref reconcile.PodRef, change func(*corev1.Pod)) (*corev1.Pod, error) {
	old := s.pods[ref.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, ref.Name)
	case old.UID != ref.UID:
		// A patch may not change the UID: the answer is not a conflict.
		return nil, invalidPod(ref.Name, "uid", "field is immutable")
	case ref.ResourceVersion != "" && old.ResourceVersion != ref.ResourceVersion:
		return nil, apierrors.NewConflict(podsResource, ref.Name, fmt.Errorf("the precondition does not hold"))
	}
	pod := editable(old)
	change(pod)
	if slices.Equal(old.Finalizers, pod.Finalizers) && maps.Equal(old.Labels, pod.Labels) && equality.Semantic.DeepEqual(old.OwnerReferences, pod.OwnerReferences) {
		return s.copy(old), nil
	}
	if path, problem := ownershipProblem(old, pod); problem != "" {
		return nil, invalidPod(ref.Name, path, problem)
	}
	return s.commitPod(verb, pod), nil
}

func invalidPod(name, path, problem string) error {
	return apierrors.NewInvalid(podKind, name, field.ErrorList{field.Invalid(field.NewPath("metadata", path), field.OmitValueType{}, problem)})
}

// ownershipProblem returns what the API server rejects about finalizers and owners.
func ownershipProblem(old, pod *corev1.Pod) (path, problem string) {
	controllers := 0
	for _, o := range pod.OwnerReferences {
		if ptr.Deref(o.Controller, false) {
			controllers++
		}
	}
	if controllers > 1 {
		return "ownerReferences", "only one reference can be the controller"
	}
	for _, f := range pod.Finalizers {
		if old.DeletionTimestamp != nil && !slices.Contains(old.Finalizers, f) {
			return "finalizers", "no new finalizers can be added if the object is being deleted"
		}
	}
	return "", ""
}

// EditPod changes a pod as the kubelet, the scheduler or a user would. It does
// nothing if there is no such pod.
func (s *Store) EditPod(verb, name string, edit func(*corev1.Pod)) {
	if old := s.pods[name]; old != nil {
		pod := editable(old)
		edit(pod)
		s.commitPod(verb, pod)
	}
}
