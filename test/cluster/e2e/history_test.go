package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// chronicle is the history of the cluster.
type chronicle struct{ *history.Log }

// of returns the versions of the Jobs with this name and of their pods.
func (h chronicle) of(namespace, job string) []history.Version {
	return slices.DeleteFunc(h.In(namespace), func(v history.Version) bool {
		return v.Job != nil && v.Job.Name != job || v.Pod != nil && v.Pod.Labels[batchv1.JobNameLabel] != job
	})
}

// job returns the versions of a Job, the oldest first.
func (h chronicle) job(namespace, name string) (versions []*batchv1.Job) {
	for _, v := range h.of(namespace, name) {
		if v.Job != nil && !v.Gone {
			versions = append(versions, v.Job)
		}
	}
	return versions
}

// pods returns the newest version of each pod that a Job ever had, the oldest pod first.
func (h chronicle) pods(namespace, job string) []*corev1.Pod {
	at := map[types.UID]int{}
	var pods []*corev1.Pod
	for _, v := range h.of(namespace, job) {
		if v.Pod == nil {
			continue
		}
		if i, known := at[v.Pod.UID]; known {
			pods[i] = v.Pod
			continue
		}
		at[v.Pod.UID] = len(pods)
		pods = append(pods, v.Pod)
	}
	return pods
}

// until waits until the history satisfies a condition.
func (h chronicle) until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		changed, broken := h.Changes()
		if broken != nil {
			t.Fatal(broken)
		}
		if reached() {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// untilJob waits until a Job reaches a state, even briefly, and returns that version.
func untilJob(t *testing.T, namespace, name, what string, reached func(*batchv1.Job) bool) *batchv1.Job {
	t.Helper()
	var found *batchv1.Job
	past.until(t, fmt.Sprintf("Job %s with %s", name, what), func() bool {
		for _, job := range past.job(namespace, name) {
			if reached(job) {
				found = job
				return true
			}
		}
		return false
	})
	return found
}

// untilPods waits until n pods of a Job are selected at the same time, and returns them, the oldest first.
func untilPods(t *testing.T, namespace, job string, n int, what string, chosen func(*corev1.Pod) bool) []*corev1.Pod {
	t.Helper()
	var pods []*corev1.Pod
	past.until(t, fmt.Sprintf("%d pods of Job %s that are %s", n, job, what), func() bool {
		pods = slices.DeleteFunc(past.pods(namespace, job), func(pod *corev1.Pod) bool { return !chosen(pod) })
		return len(pods) == n
	})
	return pods
}

func untilRunning(t *testing.T, namespace, job string, n int) []*corev1.Pod {
	t.Helper()
	return untilPods(t, namespace, job, n, "running", history.IsRunning)
}
