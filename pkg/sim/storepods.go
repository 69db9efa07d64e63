package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
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

// maxGeneratedBase is how much of generateName the API server takes for a name.
const maxGeneratedBase = 58

func (s *Store) generatedName(base string) string {
	s.names++
	return base[:min(len(base), maxGeneratedBase)] + "p" + strconv.Itoa(s.names)
}

// newUID returns the UID of a new pod. A name that is not generated may have been that of an earlier pod.
func (s *Store) newUID(name string, generated bool) types.UID {
	if !generated {
		s.named[name]++
	}
	if n := s.named[name]; n > 1 {
		return types.UID(fmt.Sprintf("uid-%s-%d", name, n))
	}
	return types.UID("uid-" + name)
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

// setPodCondition adds a condition to an editable pod, or replaces it. Its time is when the
// status changed.
func (s *Store) setPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
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

var patchVerbs = map[cluster.PodPatch]string{cluster.ReleasePod: "release", cluster.AdoptPod: "adopt", cluster.DisownPod: "disown", cluster.ClaimPod: "claim"}

// PatchPod changes the owner, the finalizer and the label of a pod as cluster.PodAPI does, with the preconditions
// of the reference.
func (s *Store) PatchPod(job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch, label string) (*corev1.Pod, error) {
	old := s.pods[ref.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, ref.Name)
	case ref.ResourceVersion != "" && old.ResourceVersion != ref.ResourceVersion:
		return nil, apierrors.NewConflict(podsResource, ref.Name, fmt.Errorf("the precondition does not hold"))
	}
	pod := editable(old)
	pod.UID = ref.UID // A patch may not change it: the answer is not a conflict.
	tie(pod, job, patch, label)
	return s.replacePod(patchVerbs[patch], old, pod)
}

// tie merges a patch into a pod: what it adds to lists comes first.
func tie(pod *corev1.Pod, job *batchv1.Job, patch cluster.PodPatch, label string) {
	switch patch {
	case cluster.AdoptPod:
		metav1.SetMetaDataLabel(&pod.ObjectMeta, observe.ManagedByLabel, label)
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
	case cluster.ClaimPod:
		metav1.SetMetaDataLabel(&pod.ObjectMeta, observe.ManagedByLabel, label)
		return
	case cluster.DisownPod:
		removeOwner(pod, job.UID)
	}
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
}

func jobReference(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// replacePod stores a changed pod, if anything has changed, and the API server accepts that.
func (s *Store) replacePod(verb string, old, pod *corev1.Pod) (*corev1.Pod, error) {
	same := equality.Semantic.DeepEqual
	sameMeta, sameSpec := same(old.ObjectMeta, pod.ObjectMeta), same(old.Spec, pod.Spec)
	if sameMeta && sameSpec && same(old.Status, pod.Status) {
		return s.copy(old), nil
	}
	list := validateContainers(old, pod)
	if !sameMeta {
		list = append(list, validateMetaUpdate(old, pod)...)
	}
	if !sameSpec {
		list = append(list, validatePodSpec(&old.Spec, &pod.Spec)...)
	}
	if len(list) > 0 {
		return nil, apierrors.NewInvalid(podKind, pod.Name, list)
	}
	return s.commitPod(verb, pod), nil
}

// EditPod changes a pod as the kubelet, the scheduler or a user would. It does
// nothing if there is no such pod, or if the API server rejects the change.
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
