package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// CreateJob stores a new Job as a user would, with the API server's defaults.
func (s *Store) CreateJob(job *batchv1.Job) (*batchv1.Job, error) {
	if s.terminating {
		return nil, namespaceTerminating(jobsResource, job.Name)
	}
	job = job.DeepCopy()
	job.Namespace, job.Generation = Namespace, 1
	job.UID = types.UID(fmt.Sprintf("job-%d", s.version+1))
	job.CreationTimestamp = s.timestamp()
	apirules.SetDefaults(job)
	apirules.GenerateSelector(job)
	setLabelDefaults(job)
	if list := validateJob(job); len(list) > 0 {
		return nil, apierrors.NewInvalid(jobKind, job.Name, list)
	}
	if s.jobs[job.Name] != nil {
		return nil, apierrors.NewAlreadyExists(jobsResource, job.Name)
	}
	return s.commitJob("create", job), nil
}

// setLabelDefaults copies the labels of the template to a Job without labels; the API server also does that to stored
// Jobs that it reads.
func setLabelDefaults(job *batchv1.Job) {
	if len(job.Labels) == 0 {
		job.Labels = maps.Clone(job.Spec.Template.Labels)
	}
}

// EditJob changes metadata or spec of a Job as a user would.
func (s *Store) EditJob(name string, edit func(*batchv1.Job)) (*batchv1.Job, error) {
	old := s.jobs[name]
	if old == nil {
		return nil, apierrors.NewNotFound(jobsResource, name)
	}
	job := old.DeepCopy()
	edit(job)
	apirules.SetDefaults(job)
	setLabelDefaults(job)
	if list := validateJobUpdate(old, job); len(list) > 0 {
		return nil, apierrors.NewInvalid(jobKind, name, list)
	}
	if !reconcile.Same(&old.Spec, &job.Spec) {
		job.Generation++
	}
	if reconcile.Same(old, job) {
		return job, nil
	}
	return s.commitJob("edit", job), nil
}

// DeleteJob deletes a Job. With background propagation, the Job is removed at once, and its pods are left to the
// garbage collector; otherwise it remains until the garbage collector has deleted or orphaned the pods. Other
// finalizers hold it in any case. A later deletion can change the propagation.
func (s *Store) DeleteJob(name string, how metav1.DeletionPropagation) error {
	old := s.jobs[name]
	if old == nil {
		return apierrors.NewNotFound(jobsResource, name)
	}
	finalizers := deletionFinalizers(old.Finalizers, how)
	same := sameSet(old.Finalizers, finalizers)
	if same && old.DeletionTimestamp != nil {
		return nil
	}
	job := old.DeepCopy()
	if !same {
		job.Finalizers = finalizers
	}
	if job.DeletionTimestamp == nil {
		at := s.timestamp()
		job.DeletionTimestamp, job.DeletionGracePeriodSeconds = &at, ptr.To[int64](0)
		job.Generation++
	}
	s.commitJob("delete", job)
	return nil
}

// deletionFinalizers returns the finalizers of a deleted Job: its own, with the finalizer of this propagation policy
// instead of an earlier one.
func deletionFinalizers(finalizers []string, how metav1.DeletionPropagation) []string {
	finalizers = slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
	switch how {
	case metav1.DeletePropagationForeground:
		return append(finalizers, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		return append(finalizers, metav1.FinalizerOrphanDependents)
	}
	return finalizers
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// FinalizeJob removes a finalizer from a Job.
func (s *Store) FinalizeJob(name, finalizer string) {
	if old := s.jobs[name]; old != nil {
		job := old.DeepCopy()
		job.Finalizers = slices.DeleteFunc(job.Finalizers, func(f string) bool { return f == finalizer })
		s.commitJob("finalize", job)
	}
}

// UpdateJobStatus stores the status of a Job under the rules of the API server.
func (s *Store) UpdateJobStatus(job *batchv1.Job) (*batchv1.Job, error) {
	old := s.jobs[job.Name]
	switch {
	case old == nil:
		return nil, apierrors.NewNotFound(jobsResource, job.Name)
	case old.UID != job.UID:
		return nil, apierrors.NewConflict(jobsResource, job.Name, fmt.Errorf("the UID in the request does not match"))
	case old.ResourceVersion != job.ResourceVersion:
		return nil, apierrors.NewConflict(jobsResource, job.Name, fmt.Errorf("the object has been modified"))
	}
	next := old.DeepCopy()
	next.Status = *roundTimes(job.Status.DeepCopy())
	if found := apirules.Status(old, next); len(found) > 0 {
		return nil, apierrors.NewInvalid(jobKind, job.Name, found.Errors())
	}
	if reconcile.Same(&old.Status, &next.Status) {
		return old.DeepCopy(), nil
	}
	return s.commitJob("status", next), nil
}

// roundTimes truncates times to seconds, as their JSON form does.
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
