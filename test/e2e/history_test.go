package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// history keeps all versions of all Jobs and pods of the cluster.
type history struct {
	mu sync.Mutex
	// versions are kept by namespace, and so by test.
	versions map[string][]version
	changed  chan struct{}
	broken   error
}

// version is one stored version of a Job or of a pod, or the end of one.
type version struct {
	// revision orders the versions of Jobs and pods together: all resources of
	// one etcd share one counter.
	revision uint64
	seen     time.Time
	job      *batchv1.Job
	pod      *corev1.Pod
	gone     bool
}

func (v version) object() metav1.Object {
	if v.job != nil {
		return v.job
	}
	return v.pod
}

func startHistory(ctx context.Context, client kubernetes.Interface) (*history, error) {
	h := &history{versions: map[string][]version{}, changed: make(chan struct{})}
	jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing jobs: %w", err)
	}
	for _, resource := range []cache.WatchFuncWithContext{client.BatchV1().Jobs("").Watch, client.CoreV1().Pods("").Watch} {
		// Where the API server ends a watch, this one goes on, and misses nothing.
		w, err := toolswatch.NewRetryWatcherWithContext(ctx, jobs.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: resource})
		if err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
		go h.follow(ctx, w)
	}
	return h, nil
}

func (h *history) follow(ctx context.Context, w watch.Interface) {
	defer w.Stop()
	err := error(nil)
	for event := range w.ResultChan() {
		if err = h.record(event); err != nil {
			break
		}
	}
	if ctx.Err() == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.broken = cmp.Or(err, fmt.Errorf("a watch of the history ended"))
	}
}

func (h *history) record(event watch.Event) error {
	object, ok := event.Object.(metav1.Object)
	if !ok {
		return fmt.Errorf("the watch of the history brought %w", apierrors.FromObject(event.Object))
	}
	revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("resourceVersion %q: %w", object.GetResourceVersion(), err)
	}
	v := version{revision: revision, seen: time.Now(), gone: event.Type == watch.Deleted}
	v.job, _ = event.Object.(*batchv1.Job)
	v.pod, _ = event.Object.(*corev1.Pod)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.versions[object.GetNamespace()] = append(h.versions[object.GetNamespace()], v)
	close(h.changed)
	h.changed = make(chan struct{})
	return nil
}

// namespaces are those in which something happened.
func (h *history) namespaces() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.versions))
}

// in returns the versions of a namespace in the order in which they were stored.
func (h *history) in(namespace string) []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.versions[namespace])
	slices.SortStableFunc(out, func(a, b version) int { return cmp.Compare(a.revision, b.revision) })
	return out
}

// of returns what concerns a Job of the name, and its pods.
func (h *history) of(namespace, job string) []version {
	return slices.DeleteFunc(h.in(namespace), func(v version) bool {
		return v.job != nil && v.job.Name != job || v.pod != nil && v.pod.Labels[batchv1.JobNameLabel] != job
	})
}

// job returns the versions of a Job, the oldest first.
func (h *history) job(namespace, name string) (versions []*batchv1.Job) {
	for _, v := range h.of(namespace, name) {
		if v.job != nil && !v.gone {
			versions = append(versions, v.job)
		}
	}
	return versions
}

// pods returns the newest version of each pod that a Job ever had, the oldest pod first.
func (h *history) pods(namespace, job string) []*corev1.Pod {
	at := map[types.UID]int{}
	var pods []*corev1.Pod
	for _, v := range h.of(namespace, job) {
		if v.pod == nil {
			continue
		}
		if i, known := at[v.pod.UID]; known {
			pods[i] = v.pod
			continue
		}
		at[v.pod.UID] = len(pods)
		pods = append(pods, v.pod)
	}
	return pods
}

// trace tells what happened in a namespace, a line for each version.
func (h *history) trace(namespace string) string {
	var b strings.Builder
	for _, v := range h.in(namespace) {
		fmt.Fprintf(&b, "%d %s %s", v.revision, v.seen.Format("04:05.000"), v.object().GetName())
		switch {
		case v.gone:
			b.WriteString(" is gone")
		case v.job != nil:
			s := v.job.Status
			fmt.Fprintf(&b, ": %+v ready %s, succeeded %d, completed %q, failed %s, %q, generation %d", countsOf(v.job), text(s.Ready),
				s.Succeeded, s.CompletedIndexes, quoted(s.FailedIndexes), conditionsOf(v.job), v.job.Generation)
		default:
			fmt.Fprintf(&b, ": %s deleted %t tracked %t attempt %s", v.pod.Status.Phase, v.pod.DeletionTimestamp != nil, isTracked(v.pod), v.pod.Annotations["batchjob.dev/attempt"])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// changes is closed as soon as there is something new.
func (h *history) changes() (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed, h.broken
}

// until waits for something that the history will show.
func (h *history) until(t *testing.T, what string, reached func() bool) {
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

// untilJob waits until a Job is as asked for, were it for a moment, and returns it as it
// was then.
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

// untilPods waits until n pods of a Job are as asked for at the same time, and returns
// them, the oldest first.
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

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func isRunning(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// indexOf is the pod's completion index, or -1.
func indexOf(pod *corev1.Pod) int32 {
	i, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return -1
	}
	return int32(i)
}
