package observe

import (
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// podLife is the true history of one pod, and how far a watch that selects by label has delivered it.
type podLife struct {
	// versions are by resourceVersion; 0 is before the pod.
	versions []*corev1.Pod
	seen     int
}

func newPodLife() *podLife {
	l := &podLife{versions: []*corev1.Pod{nil}}
	pod := testPod("a", "job", 0, corev1.PodFailed)
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	pod.Labels = map[string]string{ManagedByLabel: "us"}
	l.commit(pod)
	return l
}

func (l *podLife) commit(pod *corev1.Pod) {
	pod.ResourceVersion = strconv.Itoa(len(l.versions))
	l.versions = append(l.versions, pod)
}

func (l *podLife) last() *corev1.Pod { return l.versions[len(l.versions)-1] }

// at returns the pod as the watch selects it at a version, or nil.
func (l *podLife) at(version int) *corev1.Pod {
	if pod := l.versions[version]; pod != nil && !IsGone(pod) && pod.Labels[ManagedByLabel] == "us" {
		return pod
	}
	return nil
}

// deliver delivers the next version.
func (l *podLife) deliver(store Store) {
	if l.seen+1 == len(l.versions) {
		return
	}
	before := l.at(l.seen)
	l.seen++
	switch now := l.at(l.seen); {
	case now != nil:
		_ = store.Update(now)
	case before != nil:
		_ = store.Delete(l.versions[l.seen])
	}
}

// relist starts the watch again from a list at a version that is no older than what it has delivered.
func (l *podLife) relist(store Store, version int) {
	var objects []any
	if pod := l.at(version); pod != nil {
		objects = append(objects, pod)
	}
	l.seen = version
	_ = store.Replace(objects, strconv.Itoa(version))
}

// TRK-18, REG-26: a pod that an own call showed to be gone stays gone, whatever the watch still delivers of it: that it lost
// its label, and got it back.
func TestGonePodStaysGone_TRK_18(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(nil, &recorder{})
		c.WatchesLabel("us", func(*batchv1.Job) bool { return true })
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns", ResourceVersion: "1"}}
		_ = c.JobStore("").Add(job)
		store, life, isGone := c.PodStore(""), newPodLife(), false
		life.deliver(store)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := rapid.SampledFrom([]string{"relabel", "end", "event", "event", "answer", "missing", "list", "relist"}).Draw(t, "step")
			pod := life.last().DeepCopy()
			switch {
			case step == "relabel" && !IsGone(pod):
				pod.Labels = map[string]string{ManagedByLabel: map[string]string{"us": "others", "others": "us"}[pod.Labels[ManagedByLabel]]}
				life.commit(pod)
			case step == "end" && !IsGone(pod):
				pod.Finalizers, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, &metav1.Time{}, ptr.To[int64](0)
				life.commit(pod)
			case step == "event":
				life.deliver(store)
			case step == "answer":
				c.WrotePod(pod)
				isGone = isGone || IsGone(pod)
			case step == "missing" && IsGone(pod):
				c.PodMissing("job", "ns", pod.UID)
				isGone = true
			case step == "list" && isGone:
				c.ListedPods(job, nil, pod.ResourceVersion)
			case step == "relist":
				life.relist(store, rapid.IntRange(max(life.seen, 1), len(life.versions)-1).Draw(t, "at"))
			}
			if isGone && names(c, "job") != "" {
				t.Fatalf("after %s: the pod is back, as %s", step, names(c, "job"))
			}
		}
	})
}
