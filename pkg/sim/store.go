package sim

import (
	"fmt"
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
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

var (
	jobsResource = schema.GroupResource{Group: "batch", Resource: "jobs"}
	podsResource = schema.GroupResource{Resource: "pods"}
	jobKind      = schema.GroupKind{Group: "batch", Kind: "Job"}
)

// Commit is one write that the store accepted. Old is nil for a creation, New for
// the end of an object. Exactly one of the two pairs is used.
type Commit struct {
	Version        int64
	Verb           string
	OldJob, NewJob *batchv1.Job
	OldPod, NewPod *corev1.Pod
}

// Store is the API server: it holds the objects of one namespace, and tells a
// listener of every commit. Objects that it returns are copies.
type Store struct {
	now      func() time.Time
	onCommit func(Commit)
	version  int64
	names    int
	jobs     map[string]*batchv1.Job
	pods     map[string]*corev1.Pod
}

// Namespace is where everything in a Store lives.
const Namespace = "sim"

// NewStore returns an empty store.
func NewStore(now func() time.Time, onCommit func(Commit)) *Store {
	return &Store{now: now, onCommit: onCommit, jobs: map[string]*batchv1.Job{}, pods: map[string]*corev1.Pod{}}
}

func (s *Store) next() int64 {
	s.version++
	return s.version
}

func (s *Store) commitJob(verb string, job *batchv1.Job) *batchv1.Job {
	old := s.jobs[job.Name]
	job.ResourceVersion = strconv.FormatInt(s.next(), 10)
	s.jobs[job.Name] = job
	s.onCommit(Commit{Version: s.version, Verb: verb, OldJob: old, NewJob: job})
	return job.DeepCopy()
}

func (s *Store) commitPod(verb string, pod *corev1.Pod) *corev1.Pod {
	old := s.pods[pod.Name]
	version := s.next()
	if pod.DeletionTimestamp != nil && len(pod.Finalizers) == 0 && ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		// Nothing holds it any more: the write that said so ends the object.
		delete(s.pods, pod.Name)
		s.onCommit(Commit{Version: version, Verb: verb, OldPod: old})
		return pod.DeepCopy()
	}
	pod.ResourceVersion = strconv.FormatInt(version, 10)
	s.pods[pod.Name] = pod
	s.onCommit(Commit{Version: version, Verb: verb, OldPod: old, NewPod: pod})
	return pod.DeepCopy()
}

// CreateJob stores a new Job as a user would, with the API server's defaults.
func (s *Store) CreateJob(job *batchv1.Job) (*batchv1.Job, error) {
	if s.jobs[job.Name] != nil {
		return nil, apierrors.NewAlreadyExists(jobsResource, job.Name)
	}
	job = job.DeepCopy()
	job.Namespace, job.Generation = Namespace, 1
	job.UID = types.UID(fmt.Sprintf("job-%d", s.version+1))
	job.CreationTimestamp = s.timestamp()
	setJobDefaults(job)
	return s.commitJob("create", job), nil
}

func setJobDefaults(job *batchv1.Job) {
	spec := &job.Spec
	defaultTo(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	defaultTo(&spec.Suspend, false)
	defaultTo(&spec.BackoffLimit, 6)
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = ptr.To[int32](1)
	}
	defaultTo(&spec.Parallelism, 1)
	replacement := batchv1.TerminatingOrFailed
	if spec.PodFailurePolicy != nil {
		replacement = batchv1.Failed
	}
	defaultTo(&spec.PodReplacementPolicy, replacement)
	labels := map[string]string{batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name}
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(job.UID)}}
	if spec.Template.Labels == nil {
		spec.Template.Labels = map[string]string{}
	}
	for k, v := range labels {
		spec.Template.Labels[k] = v
	}
}

func defaultTo[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func (s *Store) timestamp() metav1.Time { return metav1.NewTime(s.now().Truncate(time.Second)) }

// EditJob changes the spec of a Job as a user would.
func (s *Store) EditJob(name string, edit func(*batchv1.JobSpec)) (*batchv1.Job, error) {
	old := s.jobs[name]
	if old == nil {
		return nil, apierrors.NewNotFound(jobsResource, name)
	}
	job := old.DeepCopy()
	edit(&job.Spec)
	if !equality.Semantic.DeepEqual(old.Spec, job.Spec) {
		job.Generation++
	}
	return s.commitJob("edit", job), nil
}

// DeleteJob removes a Job at once, as background propagation does; its pods are
// left to the garbage collector.
func (s *Store) DeleteJob(name string) error {
	old := s.jobs[name]
	if old == nil {
		return apierrors.NewNotFound(jobsResource, name)
	}
	delete(s.jobs, name)
	s.onCommit(Commit{Version: s.next(), Verb: "delete", OldJob: old})
	return nil
}

// UpdateJobStatus stores the status of a Job under the rules of the API server.
func (s *Store) UpdateJobStatus(job *batchv1.Job) (*batchv1.Job, error) {
	old := s.jobs[job.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(jobsResource, job.Name)
	case old.UID != job.UID || old.ResourceVersion != job.ResourceVersion:
		return nil, apierrors.NewConflict(jobsResource, job.Name, fmt.Errorf("the object has been modified"))
	}
	next := old.DeepCopy()
	next.Status = *roundTimes(job.Status.DeepCopy())
	if list := validateStatus(old, next); len(list) > 0 {
		return nil, apierrors.NewInvalid(jobKind, job.Name, list)
	}
	if equality.Semantic.DeepEqual(old.Status, next.Status) {
		return old.DeepCopy(), nil
	}
	return s.commitJob("status", next), nil
}

// roundTimes cuts times to seconds, as their JSON form does.
func roundTimes(status *batchv1.JobStatus) *batchv1.JobStatus {
	for _, t := range []*metav1.Time{status.StartTime, status.CompletionTime} {
		if t != nil {
			t.Time = t.Truncate(time.Second)
		}
	}
	for i := range status.Conditions {
		c := &status.Conditions[i]
		c.LastProbeTime.Time = c.LastProbeTime.Truncate(time.Second)
		c.LastTransitionTime.Time = c.LastTransitionTime.Truncate(time.Second)
	}
	return status
}

// CreatePod stores a new pod; a generated name ends in a running number, so that
// traces can be read.
func (s *Store) CreatePod(pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
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

// DeletePod asks for the deletion of a pod, by anybody, if uid is "" or the pod's.
func (s *Store) DeletePod(name string, uid types.UID) (*corev1.Pod, error) {
	old := s.pods[name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, name)
	case uid != "" && old.UID != uid:
		return nil, apierrors.NewConflict(podsResource, name, fmt.Errorf("the UID in the precondition does not match"))
	case old.DeletionTimestamp != nil:
		return old.DeepCopy(), nil
	}
	pod := old.DeepCopy()
	grace := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 30)
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		grace = 0
	}
	at := metav1.NewTime(s.timestamp().Add(time.Duration(grace) * time.Second))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
	return s.commitPod("delete", pod), nil
}

// EndPod is the kubelet's last word on a pod that is being deleted: grace zero.
func (s *Store) EndPod(name string) {
	if old := s.pods[name]; old != nil && old.DeletionTimestamp != nil {
		pod := old.DeepCopy()
		pod.DeletionGracePeriodSeconds = ptr.To[int64](0)
		s.commitPod("kill", pod)
	}
}

// PatchPod changes the metadata of a pod, on the conditions that the reference names.
func (s *Store) PatchPod(verb string, ref reconcile.PodRef, change func(*corev1.Pod)) (*corev1.Pod, error) {
	old := s.pods[ref.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(podsResource, ref.Name)
	case old.UID != ref.UID, ref.ResourceVersion != "" && old.ResourceVersion != ref.ResourceVersion:
		return nil, apierrors.NewConflict(podsResource, ref.Name, fmt.Errorf("the precondition does not hold"))
	}
	pod := old.DeepCopy()
	change(pod)
	if equality.Semantic.DeepEqual(old, pod) {
		return pod, nil
	}
	return s.commitPod(verb, pod), nil
}

// EditPod changes a pod as the kubelet, the scheduler or a user would.
func (s *Store) EditPod(verb, name string, edit func(*corev1.Pod)) {
	if old := s.pods[name]; old != nil {
		pod := old.DeepCopy()
		edit(pod)
		s.commitPod(verb, pod)
	}
}

// Job returns a copy of a Job, or nil.
func (s *Store) Job(name string) *batchv1.Job { return s.jobs[name].DeepCopy() }

// Pod returns a copy of a pod, or nil.
func (s *Store) Pod(name string) *corev1.Pod { return s.pods[name].DeepCopy() }

// PodsOf returns the stored pods that the Job controls, by name. They must not be
// changed.
func (s *Store) PodsOf(job types.UID) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range s.pods {
		if owner := metav1.GetControllerOfNoCopy(p); owner != nil && owner.UID == job {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return compareNames(a.Name, b.Name) })
	return out
}

// compareNames orders names so that p2 comes before p10.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
