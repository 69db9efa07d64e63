package observe

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// testJob returns a Job with the selector that the API server generates, or a manual one.
func testJob(uid types.UID, byHand map[string]string) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job-" + string(uid), Namespace: "ns", UID: uid, ResourceVersion: "1"}}
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: byHand}
	if byHand == nil {
		job.Spec.Selector.MatchLabels = map[string]string{batchv1.ControllerUidLabel: string(uid)}
	}
	return job
}

// labeled sets a pod's labels: "uid=x" is short for the label of a generated selector.
func labeled(pod *corev1.Pod, text string) *corev1.Pod {
	pod.Labels = map[string]string{}
	for _, entry := range strings.Fields(text) {
		k, v, _ := strings.Cut(entry, "=")
		if k == "uid" {
			k = batchv1.ControllerUidLabel
		}
		pod.Labels[k] = v
	}
	return pod
}

func stray(name string, version int, labels string) *corev1.Pod {
	return labeled(testPod(name, "", version, corev1.PodRunning), labels)
}

// made marks a pod as created by this program, with its finalizer.
func made(pod *corev1.Pod) *corev1.Pod {
	pod.Annotations = map[string]string{AttemptAnnotation: "1"}
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	return pod
}

func strayNames(c *Cache, job *batchv1.Job) string {
	out := ""
	for _, p := range c.Strays(job) {
		out += p.Name + " "
	}
	return out
}

// JOB-35, JOB-37: the pods that a Job may adopt.
func TestJobMayAdoptWhatItSelects(t *testing.T) {
	generated, byHand := testJob("j", nil), testJob("h", map[string]string{"app": "x"})
	replacing := testJob("r", map[string]string{batchv1.ControllerUidLabel: "j"})
	everything, broken, without := testJob("e", map[string]string{}), testJob("b", map[string]string{"app": "not a label value"}), testJob("w", nil)
	without.Spec.Selector = nil
	deleting := stray("deleting", 9, "uid=j app=x")
	deleting.DeletionTimestamp, deleting.Finalizers = ptr.To(at(1)), []string{"example.com/x"}
	elsewhere := stray("elsewhere", 9, "uid=j app=x")
	elsewhere.Namespace = "other"
	owned := stray("owned", 9, "uid=j app=x")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Thing", UID: "t"}}
	controlled := stray("controlled", 9, "uid=j app=x")
	controlled.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", UID: "t", Controller: ptr.To(true)}}
	ended := stray("ended", 9, "uid=j")
	ended.Status.Phase = corev1.PodSucceeded

	c := NewCache(nil, nil, &recorder{})
	store := c.PodStore("")
	for _, pod := range []*corev1.Pod{
		stray("both", 9, "uid=j app=x"), stray("generated", 9, "uid=j"), stray("hand", 9, "app=x"), stray("unlabeled", 9, ""), stray("another", 9, "uid=q app=y"),
		deleting, elsewhere, owned, controlled, ended, labeled(testPod("ours", "j", 9, corev1.PodRunning), "uid=j app=x"),
	} {
		_ = store.Add(pod)
	}
	for name, c2 := range map[string]struct {
		job  *batchv1.Job
		want string
	}{
		"generated":                       {generated, "both ended generated owned "},
		"by hand":                         {byHand, "both hand owned "},
		"by hand, on another Job's label": {replacing, "both ended generated owned "},
		"all":                             {everything, "another both ended generated hand owned unlabeled "},
		"cannot be read":                  {broken, ""},
		"none":                            {without, ""},
		"of nobody":                       {testJob("z", nil), ""},
	} {
		expect(t, name, strayNames(c, c2.job), c2.want)
	}
	expect(t, "of another namespace", strayNames(c, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "third"}, Spec: everything.Spec}), "")
}

// JOB-35: the Jobs notified of a stray: the Jobs that would adopt it, when it becomes a stray or when its labels
// change.
func TestStrayIsReportedToJobsThatMayAdoptIt(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	jobs, pods := c.JobStore(""), c.PodStore("")
	for _, job := range []*batchv1.Job{testJob("j", nil), testJob("h", map[string]string{"app": "x"}), testJob("i", map[string]string{"app": "x"})} {
		_ = jobs.Add(job)
	}
	elsewhere := testJob("k", map[string]string{"app": "x"})
	elsewhere.Namespace = "other"
	_ = jobs.Add(elsewhere)
	r.take()

	_ = pods.Add(stray("a", 2, "uid=j app=x"))
	expect(t, "new", r.take(), "[stray for j stray for h stray for i]")
	ended := stray("a", 3, "uid=j app=x")
	ended.Status.Phase = corev1.PodFailed
	_ = pods.Update(ended)
	expect(t, "ended", r.take(), "[]")
	_ = pods.Update(stray("a", 4, "app=x"))
	expect(t, "relabeled", r.take(), "[stray for h stray for i]")
	_ = pods.Update(stray("a", 5, "app=y"))
	expect(t, "for nobody", r.take(), "[]")
	_ = pods.Update(labeled(testPod("a", "j", 6, corev1.PodRunning), "uid=j"))
	expect(t, "adopted", r.take(), "[pod of j: none→pod, 1 active]")
	_ = pods.Update(stray("a", 7, "uid=j"))
	expect(t, "lost", r.take(), "[pod of j: pod→none, 0 active stray for j]")
	gone := stray("a", 8, "uid=j app=x")
	gone.DeletionTimestamp, gone.Finalizers = ptr.To(at(1)), []string{"example.com/x"}
	_ = pods.Update(gone)
	expect(t, "deleting", r.take(), "[]")

	_ = jobs.Delete(testJob("h", map[string]string{"app": "x"}))
	r.take()
	_ = pods.Add(stray("b", 9, "app=x"))
	expect(t, "a Job is gone", r.take(), "[stray for i]")
	_ = pods.Delete(stray("b", 10, "app=x"))
	expect(t, "deleted", r.take(), "[]")
	third := stray("c", 11, "uid=j app=x")
	third.Namespace = "third"
	_ = pods.Add(third)
	expect(t, "of another namespace", r.take(), "[]")
}

// TRK-25, JOB-36: the caller's writes that adopt and disown a pod show at once, and a disowned pod is reported to other
// Jobs that may adopt it.
func TestOwnAdoptionShows(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	job, other := testJob("j", nil), testJob("h", map[string]string{"app": "x"})
	_, _ = c.JobStore("").Add(job), c.JobStore("").Add(other)
	_ = c.PodStore("").Add(stray("a", 2, "uid=j"))
	c.WrotePod(labeled(testPod("a", "j", 3, corev1.PodRunning), "uid=j"))
	expect(t, "adopted", names(c, "j")+"/"+strayNames(c, job), "a@3 /")
	_ = c.PodStore("").Update(labeled(testPod("a", "j", 4, corev1.PodRunning), "app=x"))
	expect(t, "no longer selected", names(c, "j"), "a@4 ")
	r.take()
	c.WrotePod(stray("a", 5, "app=x"))
	expect(t, "let go", names(c, "j")+"/"+strayNames(c, job), "/")
	expect(t, "told", r.take(), "[stray for h]")
	expect(t, "for the other", strayNames(c, other), "a ")
	_ = c.PodStore("").Update(stray("a", 5, "app=x"))
	expect(t, "told of the own write", r.take(), "[]")
}

// JOB-36: a controlled pod whose labels do not match is marked Unselected, and its Job is notified when the labels
// change; ordinary pods keep no labels.
func TestRelabeledPodShowsAsUnselected(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	_ = c.JobStore("").Add(testJob("j", nil))
	_ = c.JobStore("").Add(testJob("h", map[string]string{"app": "x"}))
	store := c.PodStore("")
	unselected := func(job types.UID) (out string) {
		for _, p := range c.Pods(job) {
			out += fmt.Sprintf("%s %v ", p.Name, p.Unselected)
		}
		return out
	}
	_ = store.Add(labeled(testPod("a", "j", 2, corev1.PodRunning), "uid=j app=z"))
	_ = store.Add(labeled(testPod("b", "h", 3, corev1.PodRunning), "app=x"))
	expect(t, "generated", unselected("j"), "a false ")
	expect(t, "by hand", unselected("h"), "b false ")
	if row := c.pods.value("uid-a"); row.more != nil {
		t.Errorf("the ordinary pod has %+v", row.more)
	}
	r.take()
	for i, labels := range []string{"app=z", "uid=k", ""} {
		pod := labeled(testPod("a", "j", 4+i, corev1.PodRunning), labels)
		if labels == "" {
			pod.Labels = nil
		}
		_ = store.Update(pod)
		expect(t, "label "+labels, unselected("j"), "a true ")
		expect(t, "told", r.take(), "[pod of j: pod→pod, 1 active, relabeled]")
	}
	if c.pods.value("uid-a").pod.Unselected {
		t.Error("the cached pod was changed")
	}
	_ = store.Update(labeled(testPod("a", "j", 8, corev1.PodRunning), "uid=j"))
	expect(t, "back", unselected("j"), "a false ")
	expect(t, "told", r.take(), "[pod of j: pod→pod, 1 active, relabeled]")
	_ = store.Update(labeled(testPod("b", "h", 9, corev1.PodRunning), "app=y"))
	expect(t, "by hand, relabeled", unselected("h"), "b true ")
	expect(t, "of a Job that is gone", unselected("nobody"), "")
}

// JOB-38: a pod of another namespace never belongs to the Job.
func TestPodOfAnotherNamespaceIsNotOfTheJob(t *testing.T) {
	for _, jobFirst := range []bool{true, false} {
		c := NewCache(nil, nil, &recorder{})
		pod := labeled(testPod("a", "j", 2, corev1.PodSucceeded), "uid=j")
		pod.Namespace = "attacker"
		if jobFirst {
			_ = c.JobStore("").Add(testJob("j", nil))
		}
		_ = c.PodStore("").Add(pod)
		_ = c.JobStore("").Add(testJob("j", nil))
		expect(t, fmt.Sprint("Job first: ", jobFirst), names(c, "j"), "")
	}
}

// A list past the cache is authoritative for the Job's own pods; a pod that has become a stray meanwhile is not gone.
// Requirements: JOB-35
func TestListedPodsKeepStrays(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	job := testJob("j", nil)
	_ = c.JobStore("").Add(job)
	store := c.PodStore("")
	_ = store.Add(labeled(testPod("a", "j", 3, corev1.PodRunning), "uid=j"))
	lost, late := stray("a", 6, "uid=j"), made(stray("late", 7, "uid=j"))
	c.ListedPods(job, []corev1.Pod{*lost, *late}, "10")
	_ = store.Update(lost)
	_ = store.Add(late)
	expect(t, "strays", strayNames(c, job), "a late ")
	expect(t, "pods", names(c, "j"), "")
}

// JOB-35: a Job with the generated selector does not examine the strays of other Jobs.
func TestStraysOfOthersCostNothing(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	store := c.PodStore("")
	for i := range 1000 {
		_ = store.Add(stray(fmt.Sprint(i), i+2, fmt.Sprintf("uid=%d", i)))
	}
	for _, rows := range c.strays["ns"] {
		rows[0].value.pod = nil // Strays would panic if it examined this pod.
	}
	job := testJob("j", nil)
	measure.CheckAllocations(t, 0, func() { c.Strays(job) })
}

// Requirements: SCL-11
func TestStraysLeaveNothingBehind(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	jobs, store := c.JobStore(""), c.PodStore("")
	_ = jobs.Add(testJob("h", map[string]string{"app": "x"}))
	for i := range 5 {
		_ = store.Add(stray(fmt.Sprint(i), i+2, fmt.Sprintf("uid=%d", i%2)))
	}
	_ = store.Replace(nil, "20")
	_ = jobs.Replace(nil, "20")
	if len(c.strays)+len(c.byJob)+len(c.manual)+len(c.extra)+len(c.pods.rows) > 0 {
		t.Errorf("left: %v %v %v %v %v", c.strays, c.byJob, c.manual, c.extra, maps.Collect(maps.All(c.pods.rows)))
	}
}
