package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// chronicle records all versions of all Jobs and pods of the cluster.
type chronicle struct {
	mu sync.Mutex
	// versions holds the versions by namespace, and so by test.
	versions map[string][]history.Version
	changed  chan struct{}
	broken   error
	// reached is the latest revision that was read, in a soak.
	reached atomic.Int64
}

// startHistory starts to record the history of the cluster in dir.
func startHistory(ctx context.Context, dir string) (*chronicle, error) {
	h := &chronicle{versions: map[string][]history.Version{}, changed: make(chan struct{})}
	return h, h.follow(ctx, dir)
}

// BreakOff records why the history is incomplete.
func (h *chronicle) BreakOff(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = err
	h.wake()
}

// Record adds a version from a watch.
func (h *chronicle) Record(v history.Version) {
	h.mu.Lock()
	defer h.mu.Unlock()
	namespace := v.Object().GetNamespace()
	h.versions[namespace] = append(h.versions[namespace], v)
	h.wake()
}

func (h *chronicle) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// namespaces returns the namespaces in the history.
func (h *chronicle) namespaces() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.versions))
}

// in returns the versions of a namespace in the order in which they were stored.
func (h *chronicle) in(namespace string) []history.Version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return history.Sorted(h.versions[namespace])
}

// of returns the versions of the Jobs with this name and of their pods.
func (h *chronicle) of(namespace, job string) []history.Version {
	return slices.DeleteFunc(h.in(namespace), func(v history.Version) bool {
		return v.Job != nil && v.Job.Name != job || v.Pod != nil && v.Pod.Labels[batchv1.JobNameLabel] != job
	})
}

// job returns the versions of a Job, the oldest first.
func (h *chronicle) job(namespace, name string) (versions []*batchv1.Job) {
	for _, v := range h.of(namespace, name) {
		if v.Job != nil && !v.Gone {
			versions = append(versions, v.Job)
		}
	}
	return versions
}

// pods returns the newest version of each pod that a Job ever had, the oldest pod first.
func (h *chronicle) pods(namespace, job string) []*corev1.Pod {
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

// trace returns the history of a namespace, one version per line.
func (h *chronicle) trace(namespace string) string {
	var b strings.Builder
	for _, v := range h.in(namespace) {
		fmt.Fprintf(&b, "%d %s %s", v.Revision, v.Seen.Format("04:05.000"), v.Object().GetName())
		switch {
		case v.Gone:
			b.WriteString(" is gone")
		case v.Job != nil:
			s := v.Job.Status
			fmt.Fprintf(&b, ": %+v ready %s, succeeded %d, completed %q, failed %s, %q, generation %d", countsOf(v.Job), text(s.Ready),
				s.Succeeded, s.CompletedIndexes, quoted(s.FailedIndexes), conditionsOf(v.Job), v.Job.Generation)
		default:
			fmt.Fprintf(&b, ": %s deleted %t tracked %t attempt %s", v.Pod.Status.Phase, v.Pod.DeletionTimestamp != nil, isTracked(v.Pod), v.Pod.Annotations["batchjob.dev/attempt"])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// changes returns a channel that is closed at the next change.
func (h *chronicle) changes() (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed, h.broken
}

// until waits until the history satisfies a condition.
func (h *chronicle) until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		changed, broken := h.changes()
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
	return untilPods(t, namespace, job, n, "running", isRunning)
}

func isRunning(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// Predicates that many tests use.

func hasEnded(pod *corev1.Pod) bool    { return history.HasEnded(pod) }
func isTracked(pod *corev1.Pod) bool   { return history.IsTracked(pod) }
func indexOf(pod *corev1.Pod) int32    { return history.IndexOf(pod) }
func isFinished(job *batchv1.Job) bool { return history.IsFinished(job) }
func condition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	return history.Condition(job, t)
}
