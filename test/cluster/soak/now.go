package soak

import (
	"cmp"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// present holds the objects of a namespace at present, in the order of creation.
type present struct {
	jobs []*batchv1.Job
	pods []*corev1.Pod
}

// now returns the present objects of a namespace according to the history.
func (h *chronicle) now(namespace string) (p present) {
	for _, v := range h.Present(namespace) {
		if v.Job != nil {
			p.jobs = append(p.jobs, v.Job)
		} else {
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
		text += "\n" + history.JobLine(job)
	}
	for _, pod := range p.pods {
		text += "\n" + history.PodLine(pod)
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
