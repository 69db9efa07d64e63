// Package cluster has the calls to the API server that a sync of a Job needs, as narrow interfaces that Live
// implements. Every write of this program uses FieldManager.
package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// FieldManager identifies our writes (MGB-13).
const FieldManager = reconcile.FieldManager

// JobAPI reads and writes Jobs in the API server, not in the cache.
type JobAPI interface {
	// Get returns a Job, including the fields that batchv1.Job lacks.
	Get(ctx context.Context, namespace, name string) (*observe.NamedJob, error)
	// UpdateStatus stores job.Status if job.ResourceVersion is still current.
	UpdateStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	// List returns all Jobs of a namespace.
	List(ctx context.Context, namespace string) ([]batchv1.Job, error)
}

// PodAPI writes pods. Every write except Create has the pod's UID as a precondition.
type PodAPI interface {
	Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	Delete(ctx context.Context, namespace string, pod reconcile.PodRef) (*corev1.Pod, error)
	// Patch changes the owner and the finalizer of the pod, in one write.
	Patch(ctx context.Context, job *batchv1.Job, pod reconcile.PodRef, patch PodPatch) (*corev1.Pod, error)
}

// PodPatch is a change to the owner and the finalizer of a pod.
type PodPatch uint8

const (
	// ReleasePod removes the tracking finalizer.
	ReleasePod PodPatch = iota + 1
	// AdoptPod makes the Job the controller of the pod, and adds the tracking finalizer.
	AdoptPod
	// DisownPod removes the Job as an owner, and the tracking finalizer.
	DisownPod
)

// PodLister lists pods from the API server, either the pods that match the Job's selector or all pods of its namespace,
// and returns the resourceVersion of the list.
type PodLister interface {
	List(ctx context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error)
}

// Cluster has all calls that a sync needs.
type Cluster struct {
	Jobs JobAPI
	Pods PodAPI
	List PodLister
	// CreateJSON creates a pod from JSON, which may have fields that corev1.Pod lacks. If
	// it is nil, Jobs whose template has such fields get no pods.
	CreateJSON func(ctx context.Context, namespace string, pod []byte) (*corev1.Pod, error)
	// Parallel calls do(0..n-1), in any order and possibly concurrently, and returns when all calls have returned. Calls
	// of a lower priority yield to others.
	Parallel func(job Priority, n int, do func(i int))
}

// Priority is the priority of a Job's calls, the highest one first.
type Priority uint8

const (
	// Ending is for a small Job whose pods have all ended: a few calls complete it.
	Ending Priority = iota
	// Small is for any other small Job.
	Small
	// Large is for a Job that has more pods than the number that every stage changes, however long it takes.
	Large
)
