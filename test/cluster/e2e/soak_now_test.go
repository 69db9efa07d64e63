//go:build soak

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// present holds the objects of a namespace at present, in the order of creation.
type present struct {
	jobs []*batchv1.Job
	pods []*corev1.Pod
}

// now returns the present objects of a namespace according to the history.
func (h *chronicle) now(namespace string) present {
	latest := map[types.UID]history.Version{}
	h.mu.Lock()
	for _, v := range h.versions[namespace] {
		if old, known := latest[v.Object().GetUID()]; !known || v.Revision >= old.Revision {
			latest[v.Object().GetUID()] = v
		}
	}
	h.mu.Unlock()
	var p present
	for v := range maps.Values(latest) {
		switch {
		case v.Gone:
		case v.Job != nil:
			p.jobs = append(p.jobs, v.Job)
		default:
			p.pods = append(p.pods, v.Pod)
		}
	}
	slices.SortFunc(p.jobs, func(a, b *batchv1.Job) int { return byAge(a, b) })
	slices.SortFunc(p.pods, func(a, b *corev1.Pod) int { return byAge(a, b) })
	return p
}

func byAge(a, b metav1.Object) int {
	return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
}

func (p present) empty() bool { return len(p.jobs)+len(p.pods) == 0 }

// String describes all objects, and what they wait for.
func (p present) String() (text string) {
	for _, job := range p.jobs {
		text += fmt.Sprintf("\nJob %s, deleted %t, finalizers %v: %+v %q", job.Name, job.DeletionTimestamp != nil, job.Finalizers, countsOf(job), conditionsOf(job))
	}
	for _, pod := range p.pods {
		text += fmt.Sprintf("\npod %s, deleted %t, finalizers %v: %s", pod.Name, pod.DeletionTimestamp != nil, pod.Finalizers, pod.Status.Phase)
	}
	return text
}

// isEmpty reports whether the API server has no Jobs and no pods in the namespace.
func (s *soak) isEmpty(space *space) bool {
	jobs, jobErr := client.BatchV1().Jobs(space.name).List(s.t.Context(), metav1.ListOptions{})
	pods, podErr := client.CoreV1().Pods(space.name).List(s.t.Context(), metav1.ListOptions{})
	if err := errors.Join(jobErr, podErr); err != nil {
		s.tolerate("listing", err)
		return false
	}
	return len(jobs.Items)+len(pods.Items) == 0
}

// forget drops the history of a namespace in which nothing happens anymore.
func (h *chronicle) forget(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.versions, namespace)
}
