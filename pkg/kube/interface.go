package kube

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Interface is a client for the API server, by API groups.
type Interface interface {
	CoreV1() CoreV1
	BatchV1() BatchV1
	CoordinationV1() CoordinationV1
	AuthenticationV1() AuthenticationV1
	AuthorizationV1() AuthorizationV1
}

// CoreV1 is the core group. Its RESTClient also makes requests that belong to no group, by their absolute paths.
type CoreV1 interface {
	RESTClient() rest.Interface
	Pods(namespace string) Pods
	Events(namespace string) Events
	Nodes() Nodes
	PersistentVolumeClaims(namespace string) PersistentVolumeClaims
}

// BatchV1 is the group batch.
type BatchV1 interface {
	RESTClient() rest.Interface
	Jobs(namespace string) Jobs
	CronJobs(namespace string) CronJobs
}

// CoordinationV1 is the group coordination.k8s.io.
type CoordinationV1 interface {
	Leases(namespace string) Leases
}

// AuthenticationV1 is the group authentication.k8s.io.
type AuthenticationV1 interface {
	TokenReviews() TokenReviews
}

// AuthorizationV1 is the group authorization.k8s.io.
type AuthorizationV1 interface {
	SubjectAccessReviews() SubjectAccessReviews
	SelfSubjectAccessReviews() SelfSubjectAccessReviews
}

// Jobs reads and writes the Jobs of a namespace; as with all resources, the namespace "" means all namespaces.
type Jobs interface {
	Objects[*batchv1.Job, *batchv1.JobList]
	UpdateStatus(ctx context.Context, job *batchv1.Job, options metav1.UpdateOptions) (*batchv1.Job, error)
}

// Pods reads and writes the pods of a namespace, and reads their logs.
type Pods interface {
	Objects[*corev1.Pod, *corev1.PodList]
	GetLogs(name string, options *corev1.PodLogOptions) *rest.Request
}

type (
	// CronJobs reads and writes the CronJobs of a namespace.
	CronJobs = Objects[*batchv1.CronJob, *batchv1.CronJobList]
	// Events reads and writes the events of a namespace.
	Events = Objects[*corev1.Event, *corev1.EventList]
	// Leases reads and writes the Leases of a namespace.
	Leases = Objects[*coordinationv1.Lease, *coordinationv1.LeaseList]
	// Nodes reads and writes the nodes of the cluster.
	Nodes = Objects[*corev1.Node, *corev1.NodeList]
	// PersistentVolumeClaims reads and writes the PersistentVolumeClaims of a namespace.
	PersistentVolumeClaims = Objects[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList]
	// TokenReviews report which user a token belongs to.
	TokenReviews = Reviews[*authenticationv1.TokenReview]
	// SubjectAccessReviews report whether a user may perform an action.
	SubjectAccessReviews = Reviews[*authorizationv1.SubjectAccessReview]
	// SelfSubjectAccessReviews report whether the client's user may perform an action.
	SelfSubjectAccessReviews = Reviews[*authorizationv1.SelfSubjectAccessReview]
)

// Objects reads and writes the objects of one resource. T is a pointer to an object, L a pointer to a list of objects.
type Objects[T, L any] interface {
	Reviews[T]
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
}

// Reviews creates objects that are not stored: the API server returns each with its answer.
type Reviews[T any] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
}
