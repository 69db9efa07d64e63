package observe

import (
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// podLife is the true history of one pod, and how far a watch has delivered it.
type podLife struct {
	// versions holds the versions by resourceVersion; index 0 is the time before the pod.
	versions []*corev1.Pod
	seen     int
}

func newPodLife() *podLife {
	l := &podLife{versions: []*corev1.Pod{nil}}
	pod := testPod("a", "job", 0, corev1.PodFailed)
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	l.commit(pod)
	return l
}

func (l *podLife) commit(pod *corev1.Pod) {
	pod.ResourceVersion = strconv.Itoa(len(l.versions))
	l.versions = append(l.versions, pod)
}

func (l *podLife) last() *corev1.Pod { return l.versions[len(l.versions)-1] }

// at returns the pod at a version, or nil.
func (l *podLife) at(version int) *corev1.Pod {
	if pod := l.versions[version]; pod != nil && !IsGone(pod) {
		return pod
	}
	return nil
}

// deliver delivers the next version. A deletion has the last version of the object.
func (l *podLife) deliver(store Store) {
	before := l.at(l.seen)
	l.seen++
	if now := l.at(l.seen); now != nil {
		_ = store.Update(now)
	} else if before != nil {
		last := before.DeepCopy()
		last.ResourceVersion = strconv.Itoa(l.seen)
		_ = store.Delete(last)
	}
}

// relist restarts the watch from a list at a version that is no older than the last delivered one.
func (l *podLife) relist(store Store, version int) {
	var objects []any
	if pod := l.at(version); pod != nil {
		objects = append(objects, pod)
	}
	l.seen = version
	_ = store.Replace(objects, strconv.Itoa(version))
}

// listed returns the current list of a Job's pods, whatever their labels.
func (l *podLife) listed() []corev1.Pod {
	if pod := l.last(); !IsGone(pod) {
		return []corev1.Pod{*pod}
	}
	return nil
}

// TRK-18: the watch restarts without a pod, and the response to an earlier call arrives later: the pod is gone.
func TestLateAnswerOfAPodThatIsNotListed(t *testing.T) {
	c, life := NewCache(nil, nil, &recorder{}), newPodLife()
	store := c.PodStore("")
	life.deliver(store)
	life.commit(life.last().DeepCopy())
	_ = store.Replace(nil, "3")
	c.WrotePod(life.versions[2])
	expect(t, "pods", names(c, "job"), "")
}

// TRK-18: a Job of another controller adopts a pod, and a call finds that the pod is gone. The event that it was
// disowned in between arrives late, and does not restore the pod.
func TestMissingPodThatAnotherJobHadTaken(t *testing.T) {
	c, life := NewCache(nil, func(job *batchv1.Job) bool { return job.UID != "others" }, &recorder{}), newPodLife()
	_ = c.JobStore("").Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "others", Namespace: "ns", ResourceVersion: "1"}})
	store := c.PodStore("")
	for _, owner := range []types.UID{"others", "job"} {
		pod := life.last().DeepCopy()
		pod.OwnerReferences[0].UID = owner
		life.commit(pod)
	}
	life.deliver(store)
	life.deliver(store)
	c.PodMissing("job", "ns", "uid-a")
	life.deliver(store)
	expect(t, "pods", names(c, "job"), "")
	_ = store.Delete(testPod("a", "job", 9, corev1.PodRunning))
	expect(t, "remembered", len(c.pods.gone), 0)
}

// TRK-17, TRK-18, REG-26: a pod that a call of the caller showed to be gone stays gone, whatever arrives late,
// including another owner, which may be the Job of another controller. A pod that exists is shown in the end, and
// nothing is kept about a pod that is gone.
func TestGonePodStaysGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(nil, func(job *batchv1.Job) bool { return job.UID != "others" }, &recorder{})
		jobs := map[string]*batchv1.Job{}
		for _, uid := range []types.UID{"job", "job2", "others"} {
			jobs[string(uid)] = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: uid, Namespace: "ns", ResourceVersion: "1"}}
			_ = c.JobStore("").Add(jobs[string(uid)])
		}
		store, life, isGone := c.PodStore(""), newPodLife(), false
		life.deliver(store)
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			step := rapid.SampledFrom([]string{"owner", "owner", "end", "event", "event", "event", "answer", "missing", "missing", "list", "relist"}).Draw(t, "step")
			pod, ended := life.last().DeepCopy(), IsGone(life.last())
			switch {
			case step == "owner" && !ended:
				pod.OwnerReferences[0].UID = rapid.SampledFrom([]types.UID{"job", "job2", "others"}).Draw(t, "owner")
				life.commit(pod)
			case step == "end" && !ended:
				pod.Finalizers, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, &metav1.Time{}, ptr.To[int64](0)
				life.commit(pod)
			case step == "event" && life.seen+1 < len(life.versions):
				life.deliver(store)
			case step == "answer":
				pod = life.versions[rapid.IntRange(1, len(life.versions)-1).Draw(t, "version")].DeepCopy()
				c.WrotePod(pod)
				isGone = isGone || IsGone(pod)
			case step == "missing" && ended:
				c.PodMissing(rapid.SampledFrom([]types.UID{"job", "job2"}).Draw(t, "by"), "ns", pod.UID)
				isGone = true
			case step == "list":
				c.ListedPods(jobs[rapid.SampledFrom([]string{"job", "job2"}).Draw(t, "of")], life.listed(), pod.ResourceVersion)
			case step == "relist":
				life.relist(store, rapid.IntRange(max(life.seen, 1), len(life.versions)-1).Draw(t, "at"))
			}
			if shown := names(c, "job") + names(c, "job2"); isGone && shown != "" {
				t.Fatalf("after %s: the pod is back, as %s", step, shown)
			}
			if shown := names(c, "others"); shown != "" {
				t.Fatalf("after %s: a pod of another controller's Job is kept, as %s", step, shown)
			}
		}
		for life.seen+1 < len(life.versions) {
			life.deliver(store)
		}
		shown := names(c, "job") + names(c, "job2")
		switch last := life.at(life.seen); {
		case last == nil && (shown != "" || len(c.pods.gone) > 0):
			t.Fatalf("the pod is gone, and is shown as %q, remembered: %v", shown, c.pods.gone)
		case last != nil && JobUID(last) != "others" && shown != "a@"+last.ResourceVersion+" ":
			t.Fatalf("the pod exists at %s, and is shown as %q", last.ResourceVersion, shown)
		}
	})
}
