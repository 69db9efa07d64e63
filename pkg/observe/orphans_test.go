package observe

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func orphanText(c *Cache) string {
	out := ""
	for _, o := range c.Orphans("j") {
		out += fmt.Sprintf("%s@%s stray %v of %s/%s ", o.Pod.Name, o.Pod.ResourceVersion, o.Stray, o.Namespace, o.JobName)
		if o.Selected {
			out += "may be adopted "
		}
	}
	return out
}

// TRK-20: a pod that loses its owner and has the tracking finalizer is an orphan once the Job is gone, and is reported,
// so that a controller removes the finalizer.
func TestPodLosesItsJob(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	jobs, pods := c.JobStore(""), c.PodStore("")
	job := testJob("j", nil)
	_ = jobs.Add(job)
	pod := labeled(testPod("a", "j", 2, corev1.PodRunning), "uid=j")
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	_ = pods.Add(pod)
	r.take()
	lost := pod.DeepCopy()
	lost.OwnerReferences, lost.ResourceVersion = nil, "3"
	_ = pods.Update(lost)
	expect(t, "told", r.take(), "[pod of j: pod→none, 0 active stray for j]")
	expect(t, "while the Job is there", names(c, "j")+orphanText(c), "a@3 stray true of ns/ may be adopted ")
	_ = jobs.Delete(job)
	expect(t, "told", r.take(), "[job: true→false]")
	expect(t, "when the Job is gone", orphanText(c), "a@3 stray true of ns/ ")
	lost = lost.DeepCopy()
	lost.ResourceVersion, lost.Status.Phase = "4", corev1.PodFailed
	_ = pods.Update(lost)
	expect(t, "told", r.take(), "[pod of j: pod→pod, 0 active]")
	released := lost.DeepCopy()
	released.Finalizers, released.ResourceVersion = nil, "5"
	_ = pods.Update(released)
	expect(t, "released", orphanText(c), "")
}

// TRK-22, TRK-23: pods whose Job was gone before the watch began are reported, with the namespace and name of the Job
// if this program created them.
func TestJobIsGoneAtStart(t *testing.T) {
	owned := func() *corev1.Pod {
		pod := made(labeled(testPod("a", "j", 2, corev1.PodRunning), "uid=j "+batchv1.JobNameLabel+"=train"))
		pod.OwnerReferences[0].Name = "train"
		return pod
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		known  string
		want   string
	}{
		"owned":                      {func(*corev1.Pod) {}, "[pod of j: none→pod, 1 active]", "a@2 stray false of ns/train "},
		"owned, not made by us":      {func(p *corev1.Pod) { p.Annotations = nil }, "[pod of j: none→pod, 1 active]", "a@2 stray false of ns/ "},
		"owned, released":            {func(p *corev1.Pod) { p.Finalizers = nil }, "[pod of j: none→pod, 1 active]", ""},
		"orphaned":                   {func(p *corev1.Pod) { p.OwnerReferences = nil }, "[pod of j: none→pod, 0 active]", "a@2 stray true of ns/train "},
		"orphaned, not made by us":   {func(p *corev1.Pod) { p.OwnerReferences, p.Annotations = nil, nil }, "[]", ""},
		"orphaned, released":         {func(p *corev1.Pod) { p.OwnerReferences, p.Finalizers = nil, nil }, "[]", ""},
		"orphaned, without labels":   {func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil }, "[pod of unknown-job/ns: none→pod, 0 active]", ""},
		"nobody's, not made by us":   {func(p *corev1.Pod) { p.OwnerReferences, p.Labels, p.Annotations = nil, nil, nil }, "[]", ""},
		"Job of another API group":   {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "batch.example.com/v1" }, "[]", ""},
		"another kind of controller": {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "CronJob" }, "[]", ""},
	} {
		r := &recorder{}
		cache := NewCache(nil, nil, r)
		pod := owned()
		c.change(pod)
		_ = cache.PodStore("").Replace([]any{pod}, "9")
		expect(t, name+" is told", r.take(), c.known)
		expect(t, name, orphanText(cache), c.want)
	}
}

// TRK-23: a pod that was seen together with its Job keeps no Job name, even when it changes after the Job is gone: it
// is known whether the Job was ours.
func TestPodThatWasSeenWithItsJobKeepsNoName(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	jobs, pods := c.JobStore(""), c.PodStore("")
	_ = jobs.Add(testJob("j", nil))
	pod := made(labeled(testPod("a", "j", 2, corev1.PodRunning), "uid=j"))
	pod.OwnerReferences[0].Name = "train"
	_ = pods.Add(pod)
	if row := c.pods.value("uid-a"); row.more != nil {
		t.Errorf("a pod with its Job has %+v", row.more)
	}
	_ = jobs.Delete(testJob("j", nil))
	expect(t, "the Job is gone", orphanText(c), "a@2 stray false of / ")
	pod = pod.DeepCopy()
	pod.ResourceVersion, pod.Status.Phase = "3", corev1.PodFailed
	_ = pods.Update(pod)
	expect(t, "the pod has changed", orphanText(c), "a@3 stray false of ns/ ")
	pod = pod.DeepCopy()
	pod.ResourceVersion, pod.OwnerReferences = "4", nil
	_ = pods.Update(pod)
	expect(t, "and lost its owner", orphanText(c), "a@4 stray true of ns/ ")
}

// TRK-20: strays of an existing Job, which may or may not adopt them.
func TestOrphansOfAJobThatIsThere(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	_ = c.JobStore("").Add(testJob("j", nil))
	store := c.PodStore("")
	controlled := made(labeled(testPod("controlled", "j", 2, corev1.PodRunning), "uid=j"))
	deleting := made(stray("deleting", 2, "uid=j"))
	deleting.DeletionTimestamp = ptr.To(at(1))
	selected, released := made(stray("selected", 2, "uid=j")), stray("released", 2, "uid=j")
	relabeled := made(labeled(testPod("relabeled", "j", 2, corev1.PodRunning), "uid=j"))
	for _, pod := range []*corev1.Pod{controlled, deleting, selected, released, relabeled} {
		_ = store.Add(pod)
	}
	expect(t, "orphans", orphanText(c), "deleting@2 stray true of ns/ selected@2 stray true of ns/ may be adopted ")
	relabeled = made(stray("relabeled", 3, "app=x"))
	_ = store.Update(relabeled)
	expect(t, "orphans", orphanText(c), "deleting@2 stray true of ns/ selected@2 stray true of ns/ may be adopted relabeled@3 stray true of ns/ ")
}

// TRK-22: the Job watch was behind: when the Job appears, its pods are not orphans.
func TestPodsOfALateJobAreNoOrphans(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	pod := made(labeled(testPod("a", "j", 2, corev1.PodRunning), "uid=j"))
	pod.OwnerReferences[0].Name = "job-j"
	_ = c.PodStore("").Add(pod)
	_ = c.JobStore("").Add(testJob("j", nil))
	expect(t, "orphans", orphanText(c), "")
	expect(t, "pods", names(c, "j"), "a@2 ")
}
