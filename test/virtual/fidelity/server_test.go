package fidelity

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// server is an API server, the virtual or the real one.
type server interface {
	job(name string) (*batchv1.Job, error)
	pod(name string) (*corev1.Pod, error)

	createJob(*batchv1.Job) (*batchv1.Job, error)
	// updateJob applies edit to the current Job and stores the result.
	updateJob(current *batchv1.Job, edit func(*batchv1.Job)) (*batchv1.Job, error)
	updateStatus(*batchv1.Job) (*batchv1.Job, error)
	deleteJob(name string, how metav1.DeletionPropagation) error

	createPod(*corev1.Pod) (*corev1.Pod, error)
	bindPod(name, node string) error
	updatePod(current *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error)
	updatePodStatus(current *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error)
	patchPod(*batchv1.Job, reconcile.PodRef, cluster.PodPatch) (*corev1.Pod, error)
	deletePod(string, metav1.DeleteOptions) error
	evictPod(string) error

	// terminate deletes the namespace.
	terminate() error
}

// virtual is the virtual API server.
type virtual struct{ store *sim.Store }

func newVirtual() virtual { return virtual{sim.NewStore(time.Now, func(sim.Commit) {})} }

func (v virtual) job(name string) (*batchv1.Job, error) { return found(v.store.Job(name), name) }
func (v virtual) pod(name string) (*corev1.Pod, error)  { return found(v.store.Pod(name), name) }

func found[T any](object *T, name string) (*T, error) {
	if object == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return object, nil
}

func (v virtual) createJob(job *batchv1.Job) (*batchv1.Job, error) { return v.store.CreateJob(job) }
func (v virtual) updateStatus(job *batchv1.Job) (*batchv1.Job, error) {
	return v.store.UpdateJobStatus(job)
}
func (v virtual) deleteJob(name string, how metav1.DeletionPropagation) error {
	return v.store.DeleteJob(name, how)
}
func (v virtual) createPod(pod *corev1.Pod) (*corev1.Pod, error) { return v.store.CreatePod(pod) }
func (v virtual) evictPod(name string) error                     { return v.store.EvictPod(name) }

func (v virtual) updateJob(job *batchv1.Job, edit func(*batchv1.Job)) (*batchv1.Job, error) {
	return v.store.EditJob(job.Name, edit)
}

func (v virtual) bindPod(name, node string) error {
	_, err := v.store.UpdatePod("bind", name, func(p *corev1.Pod) { p.Spec.NodeName = node })
	return err
}

func (v virtual) updatePod(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	return v.store.UpdatePod("edit", pod.Name, edit)
}

func (v virtual) updatePodStatus(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	return v.store.UpdatePod("status", pod.Name, edit)
}

func (v virtual) patchPod(job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch) (*corev1.Pod, error) {
	return v.store.PatchPod(job, ref, patch)
}

func (v virtual) deletePod(name string, options metav1.DeleteOptions) error {
	_, err := v.store.DeletePodWith(name, options)
	return err
}

func (v virtual) terminate() error {
	v.store.Terminate()
	return nil
}

// actual is a namespace of the real API server.
type actual struct {
	ctx       context.Context
	client    kubernetes.Interface
	namespace string
	// pods makes our controller's calls.
	pods cluster.PodAPI
}

func newActual(ctx context.Context, client kubernetes.Interface) (server, error) {
	ns, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fidelity-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a namespace: %w", err)
	}
	live, err := cluster.NewLive(kubefake.Client(client), time.Minute, clock.RealClock{}, nil)
	if err != nil {
		return nil, err
	}
	return actual{ctx, client, ns.Name, live.Cluster(1).Pods}, nil
}

func (r actual) job(name string) (*batchv1.Job, error) {
	return r.client.BatchV1().Jobs(r.namespace).Get(r.ctx, name, metav1.GetOptions{})
}

func (r actual) pod(name string) (*corev1.Pod, error) {
	return r.client.CoreV1().Pods(r.namespace).Get(r.ctx, name, metav1.GetOptions{})
}

func (r actual) createJob(job *batchv1.Job) (*batchv1.Job, error) {
	return r.client.BatchV1().Jobs(r.namespace).Create(r.ctx, job, metav1.CreateOptions{})
}

func (r actual) updateJob(job *batchv1.Job, edit func(*batchv1.Job)) (*batchv1.Job, error) {
	job = job.DeepCopy()
	edit(job)
	return r.client.BatchV1().Jobs(r.namespace).Update(r.ctx, job, metav1.UpdateOptions{})
}

func (r actual) updateStatus(job *batchv1.Job) (*batchv1.Job, error) {
	return r.client.BatchV1().Jobs(r.namespace).UpdateStatus(r.ctx, job, metav1.UpdateOptions{})
}

func (r actual) deleteJob(name string, how metav1.DeletionPropagation) error {
	return r.client.BatchV1().Jobs(r.namespace).Delete(r.ctx, name, metav1.DeleteOptions{PropagationPolicy: &how})
}

func (r actual) createPod(pod *corev1.Pod) (*corev1.Pod, error) {
	return r.client.CoreV1().Pods(r.namespace).Create(r.ctx, pod, metav1.CreateOptions{})
}

func (r actual) bindPod(name, node string) error {
	return r.client.CoreV1().Pods(r.namespace).Bind(r.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

func (r actual) updatePod(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	edit(pod)
	return r.client.CoreV1().Pods(r.namespace).Update(r.ctx, pod, metav1.UpdateOptions{})
}

func (r actual) updatePodStatus(pod *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	edit(pod)
	return r.client.CoreV1().Pods(r.namespace).UpdateStatus(r.ctx, pod, metav1.UpdateOptions{})
}

func (r actual) patchPod(job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch) (*corev1.Pod, error) {
	job = job.DeepCopy()
	job.Namespace = r.namespace
	return r.pods.Patch(r.ctx, job, ref, patch)
}

func (r actual) deletePod(name string, options metav1.DeleteOptions) error {
	return r.client.CoreV1().Pods(r.namespace).Delete(r.ctx, name, options)
}

func (r actual) evictPod(name string) error {
	return r.client.PolicyV1().Evictions(r.namespace).Evict(r.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.namespace}})
}

func (r actual) terminate() error {
	return r.client.CoreV1().Namespaces().Delete(r.ctx, r.namespace, metav1.DeleteOptions{})
}
