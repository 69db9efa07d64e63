package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// bigPod returns a pod as API servers send it, with several kB of spec and managed fields that decisions do not need.
func bigPod(i, version int, job *batchv1.Job, phase corev1.PodPhase) *corev1.Pod {
	pod := testPod(fmt.Sprintf("train-%d-abcde", i), job.UID, version, phase)
	pod.UID = types.UID(fmt.Sprintf("5e1f7c1e-6c1c-4a5e-9d5e-%012d", i))
	pod.Labels = map[string]string{batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name}
	pod.Annotations = map[string]string{AttemptAnnotation: "1", batchv1.JobCompletionIndexAnnotation: fmt.Sprint(i)}
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	pod.OwnerReferences[0].Name = job.Name
	pod.CreationTimestamp = metav1.NewTime(time.Unix(1_000_000, 0))
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 2000))}}
	pod.Spec.NodeName = "node-1"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Args: []string{strings.Repeat("a", 2000)}}}
	return pod
}

// received returns a pod as a watch delivers it: every string is a new one.
func received(t testing.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	data, err := pod.Marshal()
	assert.NoError(t, err)
	out := &corev1.Pod{}
	assert.NoError(t, out.Unmarshal(data))
	return out
}

// fill starts, completes and releases each of n pods.
func fill(t testing.TB, c *Cache, job *batchv1.Job, n int) {
	t.Helper()
	store := c.PodStore("")
	for i := range n {
		for round, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodSucceeded} {
			pod := bigPod(i, 10+4*i+round, job, phase)
			if round == 3 {
				pod.Finalizers = nil
			}
			assert.NoError(t, store.Update(received(t, pod)))
		}
	}
}

// SCL-11: the cache keeps only the parts of a pod that decisions need, whatever its size, and nothing of its earlier
// versions.
func TestPodIsKeptSmall(t *testing.T) {
	const pods, limit = 10_000, 480
	c, job := NewCache(nil, nil, &silent{}), testJob("5e1f7c1e-6c1c-4a5e-9d5e-abcdefabcdef", nil)
	_ = c.JobStore("").Add(job)
	before := measure.Size(c)
	measure.CheckLive(t, 2*limit*pods, func() { fill(t, c, job, pods) })
	if perPod := (measure.Size(c) - before) / pods; perPod > limit {
		t.Errorf("a pod takes %d bytes, more than %d", perPod, limit)
	}
	assert.Equal(t, len(c.Pods(job.UID)), pods)
}

// BenchmarkCache takes 10,000 pods from their creation to their end.
// Requirements: SCL-11
func BenchmarkCache(b *testing.B) {
	const pods = 10_000
	for b.Loop() {
		b.StopTimer()
		c, job := NewCache(nil, nil, &silent{}), testJob("5e1f7c1e-6c1c-4a5e-9d5e-abcdefabcdef", nil)
		_ = c.JobStore("").Add(job)
		before := measure.Live()
		b.StartTimer()
		fill(b, c, job, pods)
		b.StopTimer()
		b.ReportMetric(float64(measure.Live()-before)/pods, "B/pod")
		b.StartTimer()
		if len(c.Pods(job.UID)) != pods {
			b.Fatal("not all pods are there")
		}
	}
}

// silent is a listener that ignores all changes.
type silent struct{}

func (silent) PodChanged(PodChange)        {}
func (silent) JobChanged(JobChange)        {}
func (silent) StrayChanged([]*batchv1.Job) {}
