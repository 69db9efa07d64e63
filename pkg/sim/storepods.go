package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// CreatePod stores a new pod; generated names end in sequential numbers, so that traces are readable.
func (s *Store) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	if s.terminating {
		return nil, namespaceTerminating(podsResource, pod.GenerateName)
	}
	if s.quota >= 0 && unended(s) >= s.quota {
		return nil, apierrors.NewForbidden(podsResource, pod.GenerateName, fmt.Errorf("exceeded quota: pods, limited to %d", s.quota))
	}
	pod = editable(s.copy(pod))
	pod.Namespace = Namespace
	generated := pod.Name == ""
	if generated {
		pod.Name = s.generatedName(pod.GenerateName)
	}
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if list := validatePod(pod); len(list) > 0 {
		return nil, apierrors.NewInvalid(podKind, pod.Name, list)
	}
	if s.pods[pod.Name] != nil {
		return nil, apierrors.NewAlreadyExists(podsResource, pod.Name)
	}
	pod.UID = s.newUID(pod.Name, generated)
	pod.CreationTimestamp = s.timestamp()
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return s.commitPod("create", pod), nil
}

// maxGeneratedBase is the maximum length of the part of generateName that the API server uses in a name.
const maxGeneratedBase = 58

func (s *Store) generatedName(base string) string {
	s.names++
	return base[:min(len(base), maxGeneratedBase)] + "p" + strconv.Itoa(s.names)
}

// newUID returns the UID of a new pod. A name that is not generated may have been used by an earlier pod.
func (s *Store) newUID(name string, generated bool) types.UID {
	if !generated {
		s.named[name]++
	}
	if n := s.named[name]; n > 1 {
		return types.UID(fmt.Sprintf("uid-%s-%d", name, n))
	}
	return types.UID("uid-" + name)
}

// unended counts the pods that count toward a quota.
func unended(s *Store) (n int) {
	for _, pod := range s.pods {
		if !isTerminal(pod) {
			n++
		}
	}
	return n
}

// namespaceTerminating returns the error of a creation in a namespace that is being deleted.
func namespaceTerminating(resource schema.GroupResource, name string) error {
	err := apierrors.NewForbidden(resource, name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", Namespace), Field: "metadata.namespace",
	})
	return err
}

// editable returns a copy that shares with the stored pod only the parts that this package never changes: the spec
// below its first level, and what a container's status points to.
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

// SetPodCondition adds a condition to an editable pod, or replaces it. LastTransitionTime is the time when its status
// changed.
func (s *Store) SetPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
	c.LastTransitionTime = s.timestamp()
	i := slices.IndexFunc(pod.Status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, c)
		return
	}
	if old := &pod.Status.Conditions[i]; old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	pod.Status.Conditions[i] = c
}

var patchVerbs = map[cluster.PodPatch]string{cluster.ReleasePod: "release", cluster.AdoptPod: "adopt", cluster.DisownPod: "disown"}

// PatchPod changes the owner and the finalizer of a pod like cluster.PodAPI, with the preconditions of the reference.
func (s *Store) PatchPod(job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch) (*corev1.Pod, error) {
	old := s.pods[ref.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, ref.Name)
	case ref.ResourceVersion != "" && old.ResourceVersion != ref.ResourceVersion:
		return nil, apierrors.NewConflict(podsResource, ref.Name, fmt.Errorf("the precondition does not hold"))
	}
	pod := editable(old)
	pod.UID = ref.UID // A patch cannot change the UID: the error is not a conflict.
	tie(pod, job, patch)
	return s.replacePod(patchVerbs[patch], old, pod)
}

// tie merges a patch into a pod: entries added to lists come first.
func tie(pod *corev1.Pod, job *batchv1.Job, patch cluster.PodPatch) {
	switch patch {
	case cluster.AdoptPod:
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, controller.AttemptAnnotation, "1")
		if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			pod.Finalizers = slices.Insert(pod.Finalizers, 0, batchv1.JobTrackingFinalizer)
		}
		owner := func(o metav1.OwnerReference) bool { return o.UID == job.UID }
		if i := slices.IndexFunc(pod.OwnerReferences, owner); i >= 0 {
			pod.OwnerReferences[i] = jobReference(job)
		} else {
			pod.OwnerReferences = slices.Insert(pod.OwnerReferences, 0, jobReference(job))
		}
		return
	case cluster.DisownPod:
		removeOwner(pod, job.UID)
	}
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
}

func jobReference(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// replacePod stores a changed pod, if there is a change that the API server accepts.
func (s *Store) replacePod(verb string, old, pod *corev1.Pod) (*corev1.Pod, error) {
	sameMeta, sameSpec := reconcile.Same(&old.ObjectMeta, &pod.ObjectMeta), reconcile.Same(&old.Spec, &pod.Spec)
	if sameMeta && sameSpec && reconcile.Same(&old.Status, &pod.Status) {
		return s.copy(old), nil
	}
	list := validateContainers(old, pod)
	if !sameMeta {
		list = append(list, validateMetaUpdate(&old.ObjectMeta, &pod.ObjectMeta)...)
	}
	if !sameSpec {
		list = append(list, validatePodSpec(&old.Spec, &pod.Spec)...)
	}
	if len(list) > 0 {
		return nil, apierrors.NewInvalid(podKind, pod.Name, list)
	}
	return s.commitPod(verb, pod), nil
}

// EditPod changes a pod as the kubelet, the scheduler or a user would. It does nothing if there is no such pod, or if
// the API server rejects the change.
func (s *Store) EditPod(verb, name string, edit func(*corev1.Pod)) {
	_, _ = s.UpdatePod(verb, name, edit)
}

// UpdatePod changes a pod as the kubelet, the scheduler or a user would.
func (s *Store) UpdatePod(verb, name string, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	old := s.pods[name]
	if old == nil {
		return nil, apierrors.NewNotFound(podsResource, name)
	}
	pod := editable(old)
	edit(pod)
	return s.replacePod(verb, old, pod)
}

// editOnNode changes the node and the status of a pod as the kubelet would.
func (s *Store) editOnNode(verb, name string, edit func(*corev1.Pod)) {
	old := s.pods[name]
	if old == nil {
		return
	}
	pod := *old
	pod.Status.Conditions = slices.Clone(old.Status.Conditions)
	edit(&pod)
	_, _ = s.replacePod(verb, old, &pod)
}

// DeletePod requests the deletion of a pod, with the pod's own grace period. Unless uid is "", it must match.
func (s *Store) DeletePod(name string, uid types.UID) (*corev1.Pod, error) {
	var options metav1.DeleteOptions
	if uid != "" {
		options.Preconditions = metav1.NewUIDPreconditions(string(uid))
	}
	return s.DeletePodWith(name, options)
}

// KillPod deletes a pod with a grace period of zero, as the kubelet does with a pod that has ended, or a user with
// --force.
func (s *Store) KillPod(name string) {
	_, _ = s.DeletePodWith(name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}) // It may be gone.
}

// DeletePodWith requests the deletion of a pod with preconditions and a grace period. A running pod gets its grace
// period; a pod without a node, or that has ended, is removed as soon as no finalizer holds it.
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

// markDeleted sets the deletion timestamp and the grace period of a pod.
func (s *Store) markDeleted(pod *corev1.Pod, requested *int64) {
	grace := ptr.Deref(requested, gracePeriod(pod))
	if pod.Spec.NodeName == "" || isTerminal(pod) {
		grace = 0
	}
	grace = atLeastOne(grace)
	setDeletion(pod, s.now().Add(seconds(grace)), grace)
}

// deleteSooner shortens the grace period of a pod that is being deleted, and reports whether it did. The new period
// counts from the first request, but does not end in the past.
func (s *Store) deleteSooner(pod *corev1.Pod, requested *int64) bool {
	was := *pod.DeletionGracePeriodSeconds
	grace := atLeastOne(ptr.Deref(requested, was))
	if grace >= was {
		return false
	}
	at := deletionRequested(pod).Add(seconds(grace))
	if now := s.now(); at.Before(now) {
		at, grace = now, min(grace, 1)
	}
	setDeletion(pod, at, grace)
	return true
}

// deletionRequested returns the time when the deletion of a pod was requested: its deletion timestamp without the grace
// period.
func deletionRequested(pod *corev1.Pod) time.Time {
	return pod.DeletionTimestamp.Add(-seconds(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)))
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

// EvictPod acts like the eviction API: it sets the condition DisruptionTarget, and deletes the pod.
func (s *Store) EvictPod(name string) error {
	switch {
	case s.terminating: // An eviction is a creation, too.
		return namespaceTerminating(podsResource, name)
	case s.pods[name] == nil:
		return apierrors.NewNotFound(podsResource, name)
	}
	s.EditPod("evict", name, func(p *corev1.Pod) {
		s.SetPodCondition(p, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
	})
	_, err := s.DeletePod(name, "")
	return err
}
