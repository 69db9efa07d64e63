package observe

import (
	"fmt"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// deliver delivers the next version. A deletion, or the loss of the label, comes with the object before it.
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

// relist starts the watch again from a list at a version that is no older than what it has delivered.
func (l *podLife) relist(store Store, version int) {
	var objects []any
	if pod := l.at(version); pod != nil {
		objects = append(objects, pod)
	}
	l.seen = version
	_ = store.Replace(objects, strconv.Itoa(version))
}

// listed is a list of a Job's pods now, whatever their labels.
func (l *podLife) listed() []corev1.Pod {
	if pod := l.last(); !IsGone(pod) {
		return []corev1.Pod{*pod}
	}
	return nil
}

// TRK-18: a call did not find a pod. What the watch delivers late is that it lost its label, and got it back: from the watch, or
// from a list in between.
func TestMissingPodHadLostItsLabel_TRK_18(t *testing.T) {
	for _, relisted := range []bool{false, true} {
		c, life := NewCache(nil, &recorder{}), newPodLife()
		c.WatchesLabel("us", func(*batchv1.Job) bool { return true })
		_ = c.JobStore("").Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns", ResourceVersion: "1"}})
		store := c.PodStore("")
		life.deliver(store)
		for _, label := range []string{"others", "us"} {
			pod := life.last().DeepCopy()
			pod.Labels = map[string]string{ManagedByLabel: label}
			life.commit(pod)
		}
		c.PodMissing("job", "ns", "uid-a")
		if relisted {
			life.relist(store, 2)
		} else {
			life.deliver(store)
		}
		life.deliver(store)
		expect(t, fmt.Sprintf("relisted: %v", relisted), names(c, "job"), "")
	}
}

// TRK-18: the watch begins anew without a pod, and the answer to a call from before comes later. The watch will not end the pod
// again, so somebody has to look for it.
func TestLateAnswerOfAPodThatIsNotListed_TRK_18(t *testing.T) {
	c, life := NewCache(nil, &recorder{}), newPodLife()
	c.WatchesLabel("us", func(*batchv1.Job) bool { return true })
	_ = c.JobStore("").Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns", ResourceVersion: "1"}})
	store := c.PodStore("")
	life.deliver(store)
	life.commit(life.last().DeepCopy())
	life.commit(life.last().DeepCopy())
	_ = store.Replace(nil, "3")
	c.WrotePod(life.versions[2])
	expect(t, "to be asked for", len(c.Unwatched("job")), 1)
}

// TRK-17, TRK-18, REG-26: a pod that an own call showed to be gone stays gone, whatever comes late: that it lost its label, got it
// back, or had another owner. One that exists is shown in the end, and that of no Job is remembered as missing.
func TestGonePodStaysGone_TRK_18(t *testing.T) {
	other := map[string]string{"us": "others", "others": "us", "job": "job2", "job2": "job"}
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(nil, &recorder{})
		c.WatchesLabel("us", func(*batchv1.Job) bool { return true })
		jobs := map[string]*batchv1.Job{}
		for _, uid := range []types.UID{"job", "job2"} {
			jobs[string(uid)] = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: uid, Namespace: "ns", ResourceVersion: "1"}}
			_ = c.JobStore("").Add(jobs[string(uid)])
		}
		store, life, isGone, answered := c.PodStore(""), newPodLife(), false, 0
		life.deliver(store)
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			step := rapid.SampledFrom([]string{"label", "label", "owner", "end", "event", "event", "event", "answer", "missing", "missing", "list", "relist"}).Draw(t, "step")
			pod, ended := life.last().DeepCopy(), IsGone(life.last())
			switch {
			case step == "label" && !ended:
				pod.Labels = map[string]string{ManagedByLabel: other[pod.Labels[ManagedByLabel]]}
				life.commit(pod)
			case step == "owner" && !ended:
				pod.OwnerReferences[0].UID = types.UID(other[string(JobUID(pod))])
				life.commit(pod)
			case step == "end" && !ended:
				pod.Finalizers, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, &metav1.Time{}, ptr.To[int64](0)
				life.commit(pod)
			case step == "event" && life.seen+1 < len(life.versions):
				life.deliver(store)
			case step == "answer":
				version := rapid.IntRange(1, len(life.versions)-1).Draw(t, "version")
				if version < answered && life.at(version) == nil {
					continue // Two calls about a pod without the label come one after the other.
				}
				answered, pod = max(answered, version), life.versions[version].DeepCopy()
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
		}
		for life.seen+1 < len(life.versions) {
			life.deliver(store)
		}
		last := life.at(life.seen)
		if last != nil && names(c, JobUID(last)) != "a@"+last.ResourceVersion+" " {
			t.Fatalf("the pod exists at %s, and is shown as %q", last.ResourceVersion, names(c, JobUID(last)))
		}
		for uid := range jobs {
			asked := c.Unwatched(types.UID(uid))
			if shown := names(c, types.UID(uid)); last == nil && shown != "" && len(asked) == 0 {
				t.Fatalf("the watch has ended the pod, and nobody asks for %s", shown)
			}
		}
		for _, job := range jobs {
			_ = c.JobStore("").Delete(job)
		}
		if len(c.missing) > 0 {
			t.Fatalf("missing pods of Jobs that are gone: %v", c.missing)
		}
	})
}
