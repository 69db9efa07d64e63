package cluster

import (
	"context"
	"encoding/json"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Live is a cluster behind an API server.
type Live struct {
	client kube.Interface
	// named reads Jobs as they are stored; nil if the client is a fake.
	named   *namedJobs
	timeout time.Duration
	clock   clock.PassiveClock
	pace    *pace
}

// NewLive returns the cluster that the client accesses, with a timeout for each call. It reads only the identifying
// fields of foreign pods; if foreign is nil, no pod is foreign.
func NewLive(client kube.Interface, timeout time.Duration, clock clock.PassiveClock, foreign kube.Foreign) (*Live, error) {
	named, err := newNamedJobs(client)
	if err != nil {
		return nil, err
	}
	if client, err = kube.WithoutForeign(client, foreign); err != nil {
		return nil, err
	}
	return &Live{client: client, named: named, timeout: timeout, clock: clock}, nil
}

// Cluster returns the calls to the cluster; a sync makes at most concurrency of them at once.
func (l *Live) Cluster(concurrency int) Cluster {
	l.pace = newPace(concurrency, l.clock)
	return Cluster{Jobs: liveJobs{l}, Pods: livePods{l}, List: l, CreateJSON: livePods{l}.createJSON, Parallel: l.pace.parallel}
}

// JobListWatch returns the list and watch functions for the Jobs of a namespace, and an example of their objects.
func (l *Live) JobListWatch(namespace string) (lw *cache.ListWatch, example runtime.Object) {
	if !l.isReal() {
		api := l.client.BatchV1().Jobs(namespace)
		return listWatch(l, api.List, api.Watch), &batchv1.Job{}
	}
	api := l.named.in(namespace)
	return listWatch(l, api.List, api.Watch), &observe.NamedJob{}
}

// listObject is a list as an API server returns it.
type listObject interface {
	runtime.Object
	metav1.ListInterface
}

// listWatch lists with quorum reads only: with resourceVersion 0, a list may be older
// than the writes of the last process.
func listWatch[L listObject](l *Live, list func(context.Context, metav1.ListOptions) (L, error), watchFrom func(context.Context, metav1.ListOptions) (watch.Interface, error)) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if options.ResourceVersion == "0" {
				options.ResourceVersion = ""
			}
			found, err := list(ctx, options)
			return found, l.checkList(found, err)
		},
		WatchFuncWithContext: watchFrom,
	}
}

func (l *Live) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.timeout)
}

// List implements quorum reads.
func (l *Live) List(ctx context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error) {
	selector := labels.Everything()
	if !all {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(job.Spec.Selector); err != nil {
			return nil, "", err
		}
	}
	ctx, cancel := l.limit(ctx)
	defer cancel()
	list, err := l.client.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err = l.checkList(list, err); err != nil {
		return nil, "", err
	}
	return list.Items, list.ResourceVersion, nil
}

type liveJobs struct{ *Live }

func (l liveJobs) Get(ctx context.Context, namespace, name string) (*observe.NamedJob, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	if l.isReal() {
		job, err := l.named.in(namespace).Get(ctx, name, metav1.GetOptions{})
		return job, l.checkObject(job, err)
	}
	job, err := l.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return &observe.NamedJob{Job: *job}, nil
}

func (l liveJobs) UpdateStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	stored, err := l.client.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{FieldManager: FieldManager})
	return stored, l.checkObject(stored, err)
}

// List implements quorum reads.
func (l liveJobs) List(ctx context.Context, namespace string) ([]batchv1.Job, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	list, err := l.client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err = l.checkList(list, err); err != nil {
		return nil, err
	}
	return list.Items, nil
}

type livePods struct{ *Live }

// timed starts timing a call for the pace; the function that it returns ends the timing.
func (l livePods) timed(kind string, err *error) func() {
	if l.pace == nil {
		return func() {}
	}
	begun := l.clock.Now()
	return func() { l.pace.ended(kind, begun, *err) }
}

func (l livePods) Create(ctx context.Context, pod *corev1.Pod) (_ *corev1.Pod, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	defer l.timed("create", &err)()
	created, err := l.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{FieldManager: FieldManager})
	return created, l.checkObject(created, err)
}

// createJSON creates a pod with fields that corev1.Pod lacks, which the typed client would
// drop.
func (l livePods) createJSON(ctx context.Context, namespace string, pod []byte) (_ *corev1.Pod, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	defer l.timed("create", &err)()
	created := &corev1.Pod{}
	err = l.client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").
		VersionedParams(&metav1.CreateOptions{FieldManager: FieldManager}, kube.ParameterCodec).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(pod).Do(ctx).Into(created)
	return created, l.checkObject(created, err)
}

// Delete deletes a pod and returns the pod from the response, which the typed client would drop.
func (l livePods) Delete(ctx context.Context, namespace string, ref reconcile.PodRef) (_ *corev1.Pod, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	defer l.timed("delete", &err)()
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ref.UID}}
	pod := &corev1.Pod{}
	err = l.client.CoreV1().RESTClient().Delete().Namespace(namespace).Resource("pods").Name(ref.Name).Body(&options).Do(ctx).Into(pod)
	return pod, l.checkObject(pod, err)
}

// Patch changes only the owner and the finalizer, so that other finalizers and owners, and concurrent edits, survive
// (TRK-11, TRK-25).
func (l livePods) Patch(ctx context.Context, job *batchv1.Job, ref reconcile.PodRef, patch PodPatch) (_ *corev1.Pod, err error) {
	body, err := patchBody(job, ref, patch)
	if err != nil {
		return nil, err
	}
	ctx, cancel := l.limit(ctx)
	defer cancel()
	defer l.timed("patch", &err)()
	pod, err := l.client.CoreV1().Pods(job.Namespace).Patch(ctx, ref.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{FieldManager: FieldManager})
	return pod, l.checkObject(pod, err)
}

// patchBody returns a strategic merge patch, in which lists of finalizers and owners are merged.
func patchBody(job *batchv1.Job, ref reconcile.PodRef, patch PodPatch) ([]byte, error) {
	type removedOwner struct {
		Patch string    `json:"$patch"`
		UID   types.UID `json:"uid"`
	}
	type metadata struct {
		UID             types.UID         `json:"uid"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
		OwnerReferences []any             `json:"ownerReferences,omitempty"`
		Add             []string          `json:"finalizers,omitempty"`
		Remove          []string          `json:"$deleteFromPrimitiveList/finalizers,omitempty"`
	}
	m := metadata{UID: ref.UID, ResourceVersion: ref.ResourceVersion}
	tracking := []string{batchv1.JobTrackingFinalizer}
	switch patch {
	case AdoptPod:
		// The annotation shows the next process that this program added the finalizer (TRK-22).
		m.Annotations = map[string]string{observe.AttemptAnnotation: "1"}
		m.OwnerReferences, m.Add = []any{metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}, tracking
	case DisownPod:
		m.OwnerReferences, m.Remove = []any{removedOwner{"delete", job.UID}}, tracking
	default:
		m.Remove = tracking
	}
	return json.Marshal(map[string]metadata{"metadata": m})
}
