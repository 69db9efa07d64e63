package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Metered returns a Cluster that counts the calls to c.
func Metered(c Cluster, m *metrics.Metrics) Cluster {
	if m == nil {
		return c
	}
	metered := Cluster{Jobs: meteredJobs{c.Jobs, m}, Pods: meteredPods{c.Pods, m}, List: meteredList{c.List, m}, Parallel: c.Parallel}
	if create := c.CreateJSON; create != nil {
		metered.CreateJSON = func(ctx context.Context, namespace string, pod []byte) (*corev1.Pod, error) {
			created, err := create(ctx, namespace, pod)
			m.APICall("create", "pods", err)
			return created, err
		}
	}
	return metered
}

type meteredJobs struct {
	JobAPI
	metrics *metrics.Metrics
}

func (j meteredJobs) Get(ctx context.Context, namespace, name string) (*observe.NamedJob, error) {
	job, err := j.JobAPI.Get(ctx, namespace, name)
	j.metrics.APICall("get", "jobs", err)
	return job, err
}

func (j meteredJobs) UpdateStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	stored, err := j.JobAPI.UpdateStatus(ctx, job)
	j.metrics.APICall("update", "jobs/status", err)
	return stored, err
}

func (j meteredJobs) List(ctx context.Context, namespace string) ([]batchv1.Job, error) {
	jobs, err := j.JobAPI.List(ctx, namespace)
	j.metrics.APICall("list", "jobs", err)
	return jobs, err
}

type meteredPods struct {
	PodAPI
	metrics *metrics.Metrics
}

func (p meteredPods) Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created, err := p.PodAPI.Create(ctx, pod)
	p.metrics.APICall("create", "pods", err)
	return created, err
}

func (p meteredPods) Delete(ctx context.Context, namespace string, ref reconcile.PodRef) (*corev1.Pod, error) {
	pod, err := p.PodAPI.Delete(ctx, namespace, ref)
	p.metrics.APICall("delete", "pods", err)
	return pod, err
}

func (p meteredPods) Patch(ctx context.Context, job *batchv1.Job, ref reconcile.PodRef, patch PodPatch) (*corev1.Pod, error) {
	pod, err := p.PodAPI.Patch(ctx, job, ref, patch)
	p.metrics.APICall("patch", "pods", err)
	return pod, err
}

type meteredList struct {
	PodLister
	metrics *metrics.Metrics
}

func (l meteredList) List(ctx context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error) {
	pods, version, err := l.PodLister.List(ctx, job, all)
	l.metrics.APICall("list", "pods", err)
	return pods, version, err
}
