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

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// recorder records the changes that the cache reports.
type recorder struct{ lines []string }

func (r *recorder) PodChanged(c PodChange) {
	text := func(exists bool) string { return map[bool]string{true: "pod", false: "none"}[exists] }
	line := fmt.Sprintf("pod of %s: %s→%s, %d active", c.Job, text(c.Old != nil), text(c.New != nil), c.Active)
	if c.Relabeled {
		line += ", relabeled"
	}
	r.lines = append(r.lines, line)
}

func (r *recorder) JobChanged(c JobChange) {
	r.lines = append(r.lines, fmt.Sprintf("job: %v→%v", c.Old != nil, c.New != nil))
}

func (r *recorder) StrayChanged(adopters []*batchv1.Job) {
	for _, job := range adopters {
		r.lines = append(r.lines, fmt.Sprintf("stray for %s", job.UID))
	}
}

func (r *recorder) take() []string {
	lines := r.lines
	r.lines = nil
	return lines
}

func testPod(name string, job types.UID, version int, phase corev1.PodPhase) *corev1.Pod {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	pod.Name, pod.Namespace, pod.UID, pod.ResourceVersion = name, "ns", types.UID("uid-"+name), strconv.Itoa(version)
	if job != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", UID: job, Controller: ptr.To(true)}}
	}
	return pod
}

func names(c *Cache, job types.UID) string {
	out := ""
	for _, p := range c.Pods(job) {
		out += fmt.Sprintf("%s@%s ", p.Name, p.ResourceVersion)
	}
	return out
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	assert.Equal(t, fmt.Sprint(got), fmt.Sprint(want), what)
}

// TRK-18: a write of the caller is visible at once, and its later delivery changes nothing.
func TestOwnWritesAreVisible(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	store := c.PodStore("")
	c.WrotePod(testPod("a", "job", 5, corev1.PodPending))
	expect(t, "after the write", names(c, "job"), "a@5 ")
	_ = store.Add(testPod("a", "job", 5, corev1.PodPending))
	expect(t, "told of the own write", len(r.take()), 0)
	_ = store.Update(testPod("a", "job", 7, corev1.PodRunning))
	expect(t, "told of a change", r.take(), "[pod of job: pod→pod, 1 active]")
	_ = store.Update(testPod("a", "job", 8, corev1.PodSucceeded))
	expect(t, "told of the end", r.take(), "[pod of job: pod→pod, 0 active]")
	_ = store.Delete(testPod("a", "job", 9, corev1.PodSucceeded))
	expect(t, "told of the deletion", r.take(), "[pod of job: pod→none, 0 active]")
	expect(t, "at the end", names(c, "job"), "")
}

// TRK-25: a list by the Job's selector lacks a pod that lost its labels: the pod is not outdated.
func TestListLeavesOutAnUnselectedPod(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns"}}
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: "job"}}
	_ = c.JobStore("").Add(job)
	c.ListedPods(job, nil, "10")
	pod := testPod("p", "job", 3, corev1.PodRunning)
	pod.Labels = map[string]string{batchv1.ControllerUidLabel: "job"}
	_ = c.PodStore("").Add(pod)
	expect(t, "with its labels", names(c, "job"), "")
	pod = testPod("p", "job", 5, corev1.PodRunning)
	pod.Labels = map[string]string{"app": "x"}
	_ = c.PodStore("").Update(pod)
	expect(t, "without them", names(c, "job"), "p@5 ")
	expect(t, "is unselected", c.Pods("job")[0].Unselected, true)
	pod = testPod("p", "job", 6, corev1.PodFailed)
	pod.Labels = map[string]string{batchv1.ControllerUidLabel: "job"}
	_ = c.PodStore("").Update(pod)
	expect(t, "with them again, before the list", names(c, "job"), "p@5 ")
}

// JOB-35: a call for one Job finds that a pod of another Job is gone, and the change is reported to the other Job.
func TestMissingPodIsReportedToItsJob(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	store := c.PodStore("")
	_ = store.Add(testPod("a", "j", 5, corev1.PodRunning))
	_ = store.Add(testPod("b", "k", 6, corev1.PodRunning))
	r.take()
	c.PodMissing("k", "ns", "uid-a")
	c.PodMissing("k", "ns", "uid-b")
	expect(t, "told", r.take(), "[pod of j: pod→none, 0 active]")
}

// TRK-05: a pod that lost its owner before the watch delivered it is found by the list, which shows that it has the
// finalizer.
func TestListedPodWithoutItsOwner(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns"}}
	_ = c.JobStore("").Add(job)
	former := func(name string, job string, finalizers ...string) corev1.Pod {
		pod := testPod(name, "", 7, corev1.PodFailed)
		pod.Labels, pod.Finalizers = map[string]string{batchv1.ControllerUidLabel: job}, finalizers
		pod.Annotations = map[string]string{AttemptAnnotation: "1"}
		return *pod
	}
	const finalizer = batchv1.JobTrackingFinalizer
	c.ListedPods(job, []corev1.Pod{former("held", "job", finalizer), former("released", "job"), former("unnamed", "other", finalizer)}, "10")
	taken := testPod("taken", "other", 7, corev1.PodFailed)
	taken.Finalizers = []string{finalizer}
	_ = c.PodStore("").Add(taken)
	held, unnamed := c.Held("job", []types.UID{"uid-held", "uid-released", "uid-taken"})
	expect(t, "held", held, "map[uid-held:true]")
	expect(t, "unnamed", len(unnamed), "0")
	held, unnamed = c.Held("job", []types.UID{"uid-held", "uid-unnamed"})
	expect(t, "held, one with a label of another Job", held, "map[uid-held:true uid-unnamed:true]")
	expect(t, "unnamed", len(unnamed), "1")
	expect(t, "pods", names(c, "job"), "")
}

// IDL-01: the cache keeps no pods of Jobs of other controllers. It may learn only later which controller the Job
// belongs to.
func TestPodsOfOthersAreNotKept(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, func(job *batchv1.Job) bool { return job.UID == "ours" }, r)
	jobs, pods := c.JobStore(""), c.PodStore("")
	for _, uid := range []types.UID{"ours", "others"} {
		_ = jobs.Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: uid, Namespace: "ns", ResourceVersion: "1"}})
	}
	r.take()
	_ = pods.Add(testPod("a", "others", 2, corev1.PodRunning))
	_ = pods.Add(testPod("b", "late", 3, corev1.PodRunning))
	_ = pods.Add(testPod("c", "ours", 4, corev1.PodRunning))
	expect(t, "kept", c.CountPods(), 2)
	_ = jobs.Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "late", Namespace: "ns", ResourceVersion: "5"}})
	expect(t, "kept once the Job is known", c.CountPods(), 1)
	r.take()
	_ = pods.Update(testPod("c", "others", 6, corev1.PodRunning))
	expect(t, "told that another Job has taken a pod", r.take(), "[pod of ours: pod→none, 0 active]")
	_ = pods.Update(testPod("c", "ours", 7, corev1.PodRunning))
	expect(t, "told that it is back", r.take(), "[pod of ours: none→pod, 1 active]")
	_ = jobs.Delete(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "others", Namespace: "ns", ResourceVersion: "8"}})
	_ = pods.Update(testPod("a", "others", 9, corev1.PodFailed))
	_ = pods.Delete(testPod("a", "others", 10, corev1.PodFailed))
	expect(t, "kept in the end", c.CountPods(), 1)
}

// REG-32: after an etcd restore, the versions start over from an older one; a new list shows that, and its objects
// replace the cached ones.
func TestRestoreOfEtcdTakesTheCacheBack(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	store := c.PodStore("")
	_ = store.Replace([]any{testPod("a", "job", 100, corev1.PodRunning), testPod("b", "job", 90, corev1.PodRunning)}, "120")
	_ = store.Replace([]any{testPod("b", "job", 40, corev1.PodPending)}, "50")
	expect(t, "after the restore", names(c, "job"), "b@40 ")
	_ = store.Update(testPod("b", "job", 51, corev1.PodRunning))
	c.WrotePod(testPod("d", "job", 52, corev1.PodPending))
	expect(t, "and from then on", names(c, "job"), "b@51 d@52 ")
}

// REG-32: a pod whose deletion the caller saw exists again if the restored state is older than the deletion.
func TestEtcdRestoreBringsAPodBack(t *testing.T) {
	for name, end := range map[string]func(c *Cache){
		"deleted": func(c *Cache) {
			deleted := testPod("a", "job", 100, corev1.PodRunning)
			deleted.DeletionTimestamp, deleted.DeletionGracePeriodSeconds = &metav1.Time{}, ptr.To[int64](0)
			c.WrotePod(deleted)
		},
		"missing": func(c *Cache) { c.PodMissing("job", "ns", "uid-a") },
	} {
		c := NewCache(nil, nil, &recorder{})
		store := c.PodStore("")
		_ = store.Replace([]any{testPod("a", "job", 100, corev1.PodRunning)}, "120")
		end(c)
		expect(t, name, names(c, "job"), "")
		_ = store.Replace([]any{testPod("a", "job", 40, corev1.PodRunning)}, "50")
		expect(t, name+", after the restore", names(c, "job"), "a@40 ")
		_ = store.Update(testPod("a", "job", 51, corev1.PodSucceeded))
		expect(t, name+", and from then on", names(c, "job"), "a@51 ")
	}
}

// TRK-17, TRK-18: the response to a write that arrives after the pod is known to be gone, and before the watch has
// reported either, does not restore the pod.
func TestLateAnswerAfterTheEnd(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	store := c.PodStore("")
	_ = store.Add(testPod("a", "job", 5, corev1.PodRunning))
	c.PodMissing("job", "ns", "uid-a")
	c.WrotePod(testPod("a", "job", 7, corev1.PodRunning))
	expect(t, "after the late answer", names(c, "job"), "")
	_ = store.Update(testPod("a", "job", 7, corev1.PodRunning))
	expect(t, "after the event of that write", names(c, "job"), "")
	_ = store.Delete(testPod("a", "job", 8, corev1.PodRunning))
	expect(t, "after the event of the end", names(c, "job"), "")
}

// A list is in no order of versions: the response to a creation that arrives in the middle of it is not treated as an
// object that was created and deleted.
func TestAnswerDuringAListIsKept(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	during := ""
	c.listener = listenerFunc(func() {
		if during == "" {
			c.WrotePod(testPod("c", "job", 7, corev1.PodPending))
			during = names(c, "job")
		}
	})
	_ = c.PodStore("").Replace([]any{testPod("b", "job", 9, corev1.PodRunning), testPod("c", "job", 7, corev1.PodPending)}, "9")
	expect(t, "the created pod", during, "b@9 c@7 ")
}

type listenerFunc func()

func (f listenerFunc) PodChanged(PodChange) { f() }
func (f listenerFunc) JobChanged(JobChange) {}

func (f listenerFunc) StrayChanged([]*batchv1.Job) {}

// JOB-55: a pod that a new complete list lacks is reported as deleted.
func TestRelistReportsMissedDeletions(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	store := c.PodStore("")
	select {
	case <-store.Synced():
		t.Fatal("synced before the first list")
	default:
	}
	_ = store.Replace([]any{testPod("a", "job", 3, corev1.PodRunning), testPod("b", "job", 4, corev1.PodRunning)}, "5")
	<-store.Synced()
	c.WrotePod(testPod("c", "job", 9, corev1.PodPending))
	r.take()
	_ = store.Replace([]any{testPod("b", "job", 4, corev1.PodRunning)}, "8")
	expect(t, "pods", names(c, "job"), "c@9 b@4 ")
	expect(t, "told", r.take(), "[pod of job: pod→none, 2 active]")
}

// A list of one Job's pods past the cache is authoritative, also over events that are still in flight.
func TestListedPodsReplaceThoseOfTheWatch(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	store := c.PodStore("")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns"}}
	_ = store.Add(testPod("a", "job", 3, corev1.PodRunning))
	c.ListedPods(job, []corev1.Pod{*testPod("b", "job", 6, corev1.PodRunning), *testPod("x", "other", 7, corev1.PodRunning)}, "10")
	expect(t, "listed", names(c, "job"), "b@6 ")
	_ = store.Update(testPod("a", "job", 8, corev1.PodRunning))
	_ = store.Add(testPod("came-and-went", "job", 9, corev1.PodRunning))
	expect(t, "old events", names(c, "job"), "b@6 ")
	_ = store.Add(testPod("d", "job", 11, corev1.PodRunning))
	expect(t, "new event", names(c, "job"), "b@6 d@11 ")
}

// TRK-18, TRK-19: a list of one Job's pods does not affect newer pods: pods that the caller created since, or that the
// watch has delivered.
func TestListedPodsAreOlder(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns"}}
	_ = c.PodStore("").Add(testPod("old", "job", 3, corev1.PodRunning))
	_ = c.PodStore("").Add(testPod("watched", "job", 12, corev1.PodRunning))
	c.WrotePod(testPod("created", "job", 13, corev1.PodPending))
	c.ListedPods(job, nil, "10")
	expect(t, "listed", names(c, "job"), "created@13 watched@12 ")
}

// TRK-12, TRK-25: a pod that the list shows without its owner, or with another, no longer belongs to the Job, whatever
// the watch has shown. The change is reported at once, since the watch will deliver nothing new.
func TestListedPodsThatTheJobLost(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	job := testJob("j", nil)
	_ = c.JobStore("").Add(job)
	_ = c.JobStore("").Add(testJob("k", nil))
	store := c.PodStore("")
	for i, name := range []string{"orphaned", "taken", "elsewhere", "newer"} {
		_ = store.Add(labeled(testPod(name, "j", 3+i, corev1.PodFailed), "uid=j"))
	}
	orphaned, taken, elsewhere := stray("orphaned", 13, "uid=k"), labeled(testPod("taken", "k", 14, corev1.PodFailed), "uid=j"), testPod("elsewhere", "", 15, corev1.PodFailed)
	orphaned.Finalizers = nil
	elsewhere.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: ptr.To(true)}}
	_ = store.Update(labeled(testPod("newer", "j", 30, corev1.PodFailed), "uid=j"))
	older := stray("newer", 16, "uid=j")
	r.take()
	c.ListedPods(job, []corev1.Pod{*orphaned, *taken, *elsewhere, *older}, "20")
	expect(t, "pods of j", names(c, "j"), "newer@30 ")
	expect(t, "pods of k", names(c, "k"), "taken@14 ")
	expect(t, "told", r.take(), "[pod of j: pod→none, 0 active pod of j: pod→none, 0 active pod of k: none→pod, 0 active pod of j: pod→none, 0 active stray for k]")
	for _, pod := range []*corev1.Pod{orphaned, taken, elsewhere} {
		_ = store.Update(pod)
	}
	expect(t, "told again", r.take(), "[]")
}

// A list that shows a pod again restores it if it only left its Job, and not if it was missing (TRK-17).
// Requirements: TRK-25
func TestPodThatLeftItsJobComesBack(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	j := testJob("j", nil)
	store := c.PodStore("")
	_ = c.JobStore("").Add(j)
	_ = c.JobStore("").Add(testJob("k", nil))
	_ = store.Add(labeled(testPod("taken", "j", 5, corev1.PodRunning), "uid=j"))
	_ = store.Add(labeled(testPod("missing", "k", 6, corev1.PodRunning), "uid=k"))
	taken := testPod("taken", "", 7, corev1.PodRunning)
	taken.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: ptr.To(true)}}
	c.ListedPods(j, []corev1.Pod{*taken}, "7")
	c.PodMissing("k", "ns", "uid-missing")
	back, missing := labeled(testPod("taken", "k", 8, corev1.PodRunning), "uid=k"), labeled(testPod("missing", "k", 6, corev1.PodRunning), "uid=k")
	_ = store.Replace([]any{back, missing}, "9")
	_ = store.Update(labeled(testPod("taken", "k", 10, corev1.PodRunning), "uid=k"))
	_ = store.Update(labeled(testPod("missing", "k", 11, corev1.PodFailed), "uid=k"))
	expect(t, "after an old list", names(c, "k"), "taken@10 ")
}

// A pod of another namespace that names the Job is not in a list of the Job's pods, but exists (TRK-20).
func TestListDoesNotEndPodsOfOtherNamespaces(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	j := testJob("j", nil)
	store := c.PodStore("")
	elsewhere := func(version int) *corev1.Pod {
		pod := testPod("p", "j", version, corev1.PodRunning)
		pod.Namespace, pod.Finalizers = "other", []string{batchv1.JobTrackingFinalizer}
		return pod
	}
	_ = c.JobStore("").Add(j)
	_ = store.Add(elsewhere(5))
	c.ListedPods(j, nil, "10")
	_ = c.JobStore("").Delete(j)
	expect(t, "orphans", len(c.Orphans("j")), 1)
}

// TRK-25: a pod that changes its owner leaves one Job and joins the other.
func TestPodMovesToItsNewOwner(t *testing.T) {
	r := &recorder{}
	c := NewCache(nil, nil, r)
	store := c.PodStore("")
	_ = store.Add(testPod("a", "one", 1, corev1.PodRunning))
	_ = store.Update(testPod("a", "two", 2, corev1.PodRunning))
	expect(t, "one", names(c, "one"), "")
	expect(t, "two", names(c, "two"), "a@2 ")
	r.take()
	_ = store.Update(testPod("a", "", 3, corev1.PodRunning))
	expect(t, "stray", names(c, "two"), "")
	expect(t, "told", r.take(), "[pod of two: pod→none, 0 active]")
}

// Several namespaces have several watches; a watch that starts over does not affect the others.
func TestNamespacesAreSeparate(t *testing.T) {
	c := NewCache([]string{"ns", "other"}, nil, &recorder{})
	_ = c.PodStore("ns").Add(testPod("a", "job", 3, corev1.PodRunning))
	_ = c.PodStore("other").Replace(nil, "9")
	expect(t, "pods", names(c, "job"), "a@3 ")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job", Namespace: "ns", ResourceVersion: "4"}}
	_ = c.JobStore("ns").Add(job)
	if c.Job("job") == nil || c.Job("nobody") != nil || len(c.Jobs()) != 1 {
		t.Error("Jobs are not found by UID")
	}
	_ = c.JobStore("ns").Delete(job)
	if c.Job("job") != nil {
		t.Error("the Job is still there")
	}
}

// JOB-38, MGB-03: a Job of the same name is another Job.
func TestRecreatedJobIsAnotherJob(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	old := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "old", ResourceVersion: "1"}}
	fresh := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "new", ResourceVersion: "5"}}
	_ = c.JobStore("").Add(old)
	_ = c.JobStore("").Add(fresh)
	_ = c.JobStore("").Delete(old)
	if c.Job("old") != nil || c.Job("new") == nil {
		t.Error("the deletion of the old Job took the new one")
	}
}
