package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func rowNames(s *snapshot.Snapshot) string {
	if s.Jobs == nil {
		return "unread"
	}
	var names []string
	for i := range s.Jobs.Items {
		names = append(names, s.Jobs.Items[i].Namespace+"/"+s.Jobs.Items[i].Name)
	}
	return strings.Join(names, " ")
}

func podNames(s *snapshot.Snapshot) string {
	var names []string
	if s.Job != nil {
		for _, pod := range s.Job.Report.Pods {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func gapsOf(s *snapshot.Snapshot) string {
	if s.Job == nil {
		return "no Job"
	}
	var texts []string
	for _, gap := range s.Job.Report.Gaps {
		texts = append(texts, gap.Text)
	}
	return strings.Join(texts, "\n")
}

// Issue 6.6, 6.1: the list follows created, changed and deleted Jobs, sorted; its pointer changes only if its content
// does.
func TestLiveListFollowsTheJobs(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "b", 1), clitest.SimpleJob("ns2", "other", 1))
	s := startLive(t, api)
	first := s.until("b is there", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/b" })
	steady(s, 3*time.Second, func(got *snapshot.Snapshot) *snapshot.Jobs { return got.Jobs })
	if again := s.latest(); again.Job != nil || again.Seq <= first.Seq {
		t.Errorf("Job %v, Snapshot %d after %d", again.Job, again.Seq, first.Seq)
	}
	s.untilWatching("jobs 1 pods 0 events 0")
	api.api.Put(clitest.SimpleJob("ns1", "a", 2))
	api.api.Put(clitest.SimpleJob("ns1", "c", 3))
	s.until("all are there", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/a ns1/b ns1/c" })
	api.api.Put(clitest.SimpleJob("ns1", "b", 7))
	got := s.until("b changed", func(got *snapshot.Snapshot) bool { return got.Jobs.Items[1].Succeeded == 7 })
	assert.Equal(t, first.Jobs.Items[0].Succeeded, 1, first.Jobs.Items[0])
	if got.Link.StaleSince != nil {
		t.Errorf("stale: %+v", got.Link)
	}
	api.api.Remove(clitest.SimpleJob("ns1", "a", 2))
	s.until("a is gone", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/b ns1/c" })
	s.end()
}

// Issue 6.6: a single name is watched by a field selector, and only once: the open Job uses the list's watch.
func TestLiveNameIsWatchedOnceByAFieldSelector(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "b", 1))
	s := startLive(t, api, "b")
	s.until("b is there", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/b" })
	s.open("b")
	s.untilWatching("jobs 1 pods 1 events 2")
	s.source.Look(snapshot.Focus{})
	s.untilWatching("jobs 1 pods 0 events 0")
	s.open("b")
	s.untilWatching("jobs 1 pods 1 events 2")
	s.end()
	assert.Equal(t, api.requests("fieldSelector=metadata.name%3Db"), 2, api.asked, "requests for the Job: a list and a watch")
	missing := startLive(t, api, "absent")
	assert.Equal(t, cmdutil.KindOf(cmdutil.ExplainError(missing.ended())), cmdutil.KindNotFound)
	if _, err := missing.source.Next(context.Background(), 1<<60); cmdutil.KindOf(cmdutil.ExplainError(err)) != cmdutil.KindNotFound {
		t.Errorf("Next: %v", err)
	}
}

// Issue 6.6, MGB-12: a Job that no controller works on is reported after a while.
func TestLiveJobThatNoControllerWorksOnIsReported(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 0)
	delete(job.Object, "status")
	job.Object["metadata"].(map[string]any)["creationTimestamp"] = "2026-03-01T12:00:00Z"
	s := startLive(t, newFakeLive(t, job))
	s.until("it is there", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/a" && !got.Jobs.Items[0].Neglected })
	got := s.until("it is neglected", func(got *snapshot.Snapshot) bool { return got.Jobs.Items[0].Neglected })
	if got.Time.Sub(clitest.Now()) < 9*time.Second {
		t.Errorf("after %s", got.Time.Sub(clitest.Now()))
	}
	s.end()
}

// Issue 6.6: only the open Job is watched, and nothing is kept of a Job that is closed. Nothing is written, and
// nothing keeps running (end checks that).
func TestOnlyTheOpenJobIsWatched(t *testing.T) {
	train, other := clitest.ExplainedJob("ns1", "train"), clitest.ExplainedJob("ns1", "other")
	api := newFakeLive(t, train, other)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, "table is corrupt"))
	api.pods.Put(clitest.EndedPod(other, "other-a", 1, ""))
	api.report("train-zzzzz", "NodeHasTrouble")
	s := startLive(t, api)
	if got := s.open("train"); podNames(got) != "train-a" || got.Job.Gone || gapsOf(got) != "" {
		t.Errorf("pods %q, gaps %q", podNames(got), gapsOf(got))
	}
	s.untilWatching("jobs 2 pods 1 events 2")
	s.until("the event is shown", func(got *snapshot.Snapshot) bool {
		return slices.ContainsFunc(got.Job.Report.Timeline, func(m explain.Moment) bool { return strings.Contains(m.Text, "NodeHasTrouble") })
	})
	if got := s.open("other"); podNames(got) != "other-a" || len(got.Jobs.Items) != 2 {
		t.Errorf("pods %q", podNames(got))
	}
	s.untilWatching("jobs 2 pods 1 events 2")
	s.source.Look(snapshot.Focus{})
	got := s.until("no Job is open", func(got *snapshot.Snapshot) bool { return got.Focus.Equal(snapshot.Focus{}) })
	if got.Job != nil {
		t.Error("the Job is kept")
	}
	s.untilWatching("jobs 1 pods 0 events 0")
	s.end()
}

// Issue 6.6: watch events of the open Job are in the next report; reports that were returned before stay unchanged.
func TestLiveReportHasWhatTheWatchesBring(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	delete(train.Object["status"].(map[string]any), "conditions")
	api := newFakeLive(t, train)
	for _, name := range []string{"train-a", "train-b", "train-c"} {
		api.pods.Put(clitest.EndedPod(train, name, 1, "first"))
	}
	s := startLive(t, api)
	first := s.open("train")
	before, _ := json.Marshal(first)
	s.untilWatching("jobs 2 pods 1 events 2")
	api.pods.Put(clitest.EndedPod(train, "train-d", 7, "second"))
	api.pods.Remove("train-a")
	api.report("train-xxxxx", "Evicted")
	s.until("pods changed", func(got *snapshot.Snapshot) bool { return podNames(got) == "train-b train-c train-d" })
	s.until("the event came", func(got *snapshot.Snapshot) bool {
		return slices.ContainsFunc(got.Job.Report.Timeline, func(m explain.Moment) bool { return strings.Contains(m.Text, "Evicted") })
	})
	if after, _ := json.Marshal(first); string(after) != string(before) {
		t.Errorf("a Snapshot changed:\n%s\n%s", before, after)
	}
	s.end()
}

// familyOf returns the Jobs of the family with their states and causes.
func familyOf(s *snapshot.Snapshot) string {
	if s.Job == nil || s.Job.Report == nil || s.Job.Report.Family == nil {
		return ""
	}
	f := s.Job.Report.Family
	var all []string
	for _, m := range f.Members {
		all = append(all, m.Name+" "+string(m.Outcome)+" "+m.Cause)
	}
	return strings.Join(all, ", ") + ": " + f.Text
}

// RTY-23: the open Job is shown with its family as it grows and changes, even if only this Job is listed; the causes
// are from the pods of failed retries.
func TestLiveReportHasTheFamily(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	s := startLive(t, api, "train")
	assert.Equal(t, familyOf(s.open("train")), "", "no retry yet")
	s.untilWatching("jobs 1 pods 1 events 2")
	again := clitest.ExplainedJob("ns1", "train-retry-1")
	again.SetLabels(map[string]string{retry.OfLabel: "train"})
	again.SetAnnotations(map[string]string{retry.UIDAnnotation: string(train.GetUID()), retry.AttemptAnnotation: "1"})
	running := again.DeepCopy()
	delete(running.Object["status"].(map[string]any), "conditions")
	api.api.Put(running)
	wait := func(want string) {
		s.until(want, func(got *snapshot.Snapshot) bool { return familyOf(got) == want })
	}
	const exit42 = "Container main exited with code 42"
	wait("train Failed " + exit42 + ", train-retry-1 Open : train-retry-1 is running; 10 completions are missing")
	api.pods.Put(clitest.EndedPod(again, "train-retry-1-a", 43, ""))
	api.api.Put(again)
	wait("train Failed " + exit42 + ", train-retry-1 Failed Container main exited with code 43: 10 completions are missing")
	api.api.Remove(again)
	wait("")
	s.end()
}

// Issue 6.6, CLI-07: during a restart of the server, snapshots have the time since which they are stale; afterwards
// they do not.
func TestServerRestartIsMarked(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "a", 1))
	s := startLive(t, api)
	s.open("a")
	s.untilWatching("jobs 2 pods 1 events 2")
	address := api.api.Address
	api.api.Stop()
	stale := s.until("it is stale", func(got *snapshot.Snapshot) bool { return got.Link.StaleSince != nil })
	if !strings.Contains(stale.Link.Why, "cannot reach") || strings.Contains(stale.Link.Why, "\n") || stale.Job == nil || stale.Jobs == nil {
		t.Errorf("%+v", stale.Link)
	}
	since := *stale.Link.StaleSince
	got := s.until("time passes", func(got *snapshot.Snapshot) bool { return got.Time.Sub(since) > 5*time.Second })
	if !got.Link.StaleSince.Equal(since) {
		t.Errorf("stale since %s, and before since %s", got.Link.StaleSince, since)
	}
	api.start(address)
	s.until("it is back", func(got *snapshot.Snapshot) bool { return got.Link == (snapshot.Link{}) })
	api.api.Put(clitest.SimpleJob("ns1", "a", 5))
	s.until("both see it", func(got *snapshot.Snapshot) bool {
		return got.Jobs.Items[0].Succeeded == 5 && got.Job.Report.Counts.Succeeded == 5
	})
	s.end()
}

// Issue 6.6, CLI-08: a user who may not read pods or events sees the Job, and the gap; the reads are retried from
// time to time.
func TestForbiddenPodsAreTriedAgain(t *testing.T) {
	// Events of the Job and of its pods are separate requests, and the list makes requests for its rows.
	for resource, questions := range map[string]int{"pods": 2, "events": 3} {
		train := clitest.ExplainedJob("ns1", "train")
		api := newFakeLive(t, train)
		api.pods.Put(clitest.EndedPod(train, "train-a", 1, ""))
		api.pods.Write("train-a/main", "reading")
		api.rest.RefusePath("/"+resource, http.StatusForbidden, "Forbidden")
		s := startLive(t, api)
		got := s.open("train")
		s.until("there is a gap", func(got *snapshot.Snapshot) bool {
			return gapsOf(got) == resource+" could not be read: no permission to list "+resource+" in namespace ns1"
		})
		if got.Link.StaleSince != nil {
			t.Errorf("stale: %s", got.Link.Why)
		}
		asked := 0
		clitest.WaitFor(t, func() bool {
			asked = api.requests("/" + resource + "?")
			return asked >= questions
		}, func() string { return fmt.Sprint(asked, " questions about ", resource) })
		// At most one round of questions becomes due, and another may still be on its way.
		s.pass(20 * time.Second)
		if again := api.requests("/"+resource+"?") - asked; again > 2*questions {
			t.Errorf("%s: asked %d times, then %d times in 20 s", resource, asked, again)
		}
		api.api.SetRefuse(nil)
		got = s.until("it may be read", func(got *snapshot.Snapshot) bool { return gapsOf(got) == "" })
		if podNames(got) != "train-a" || got.Job.Report.Counts.Pods == nil {
			t.Errorf("%s: pods %q", resource, podNames(got))
		}
		s.end()
	}
}

// Issue 6.6, CLI-07: a refusal to read Jobs ends the view: immediately at the start, later only if it lasts.
func TestForbiddenJobsEndTheView(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "a", 1))
	s := startLive(t, api)
	s.open("a")
	s.untilWatching("jobs 2 pods 1 events 2")
	api.rest.RefusePath("/jobs", http.StatusForbidden, "Forbidden")
	api.api.DropWatches()
	began := s.clock.Now()
	s.untilWithin(30*time.Second, "it is stale", func(got *snapshot.Snapshot) bool { return got.Link.StaleSince != nil })
	assert.Equal(t, cmdutil.KindOf(cmdutil.ExplainError(s.ended())), cmdutil.KindForbidden)
	if took := s.clock.Now().Sub(began); took < time.Minute {
		t.Errorf("it ended after %s", took)
	}
	assert.Equal(t, cmdutil.KindOf(cmdutil.ExplainError(startLive(t, api).ended())), cmdutil.KindForbidden)
}

// Issue 6.6: a deleted Job keeps its last report; a new Job with its name is a different one.
func TestDeletedJobKeepsItsLastReport(t *testing.T) {
	t.Run("of a list", func(t *testing.T) { testDeletedJob(t, "jobs 2") })
	t.Run("alone", func(t *testing.T) { testDeletedJob(t, "jobs 1", "train") })
}

func testDeletedJob(t *testing.T, jobWatches string, names ...string) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	s := startLive(t, api, names...)
	s.open("train")
	s.untilWatching(jobWatches + " pods 1 events 2")
	api.api.Remove(train)
	gone := s.until("it is gone", func(got *snapshot.Snapshot) bool { return got.Job != nil && got.Job.Gone })
	if podNames(gone) != "train-a" || gone.Job.Report.Verdict.Outcome != reconcile.OutcomeFailed {
		t.Errorf("%+v", gone.Job.Report.Verdict)
	}
	if at := gone.Job.GoneAt; at == nil || at.After(gone.Time) || at.Before(gone.Job.Report.Job.Created.Time) {
		t.Errorf("gone at %v, in a Snapshot of %s", at, gone.Time)
	}
	s.untilWatching(jobWatches + " pods 0 events 0")
	again := clitest.ExplainedJob("ns1", "train")
	again.SetUID("another")
	delete(again.Object, "status")
	api.pods.Put(clitest.EndedPod(again, "train-b", 1, ""))
	api.api.Put(again)
	got := s.until("there is another", func(got *snapshot.Snapshot) bool { return !got.Job.Gone })
	if podNames(got) != "train-b" || got.Job.Report.Job.UID != "another" {
		t.Errorf("pods %q of %s", podNames(got), got.Job.Report.Job.UID)
	}
	s.untilWatching(jobWatches + " pods 1 events 2")
	third := again.DeepCopy()
	third.SetUID("third")
	api.api.Put(third) // No deletion event was sent.
	s.until("there is a third", func(got *snapshot.Snapshot) bool { return got.Job.Report.Job.UID == "third" && podNames(got) == "" })
	s.source.Look(snapshot.Focus{Job: types.NamespacedName{Namespace: "ns1", Name: "never"}})
	s.until("one that never was", func(got *snapshot.Snapshot) bool {
		return got.Job != nil && got.Job.Gone && got.Job.GoneAt == nil && got.Job.Report.Job.Name == "never"
	})
	s.end()
}

// Issue 6.4: the last lines of the most relevant logs are in the evidence, and are read once.
func TestLogTailsAreReadOnce(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, "table is corrupt"))
	api.pods.Write("train-a/main", "reading", "bad checksum")
	s := startLive(t, api)
	s.open("train")
	s.until("the log is there", func(got *snapshot.Snapshot) bool {
		return slices.ContainsFunc(got.Job.Report.Evidence, func(e explain.Evidence) bool {
			return e.Kind == explain.EvidenceLogs && slices.Equal(e.Lines, []string{"reading", "bad checksum"})
		})
	})
	pod := clitest.EndedPod(train, "train-a", 42, "table is corrupt")
	pod.Labels["more"] = "yes"
	api.pods.Put(pod)
	s.pass(20 * time.Second)
	assert.Equal(t, api.requests("/log?"), 1, "reads")
	s.end()
	calm := newFakeLive(t, clitest.SimpleJob("ns1", "a", 1))
	c := startLive(t, calm)
	c.open("a")
	c.pass(20 * time.Second)
	assert.Equal(t, calm.requests("/log?"), 0, "reads where nothing failed")
	c.end()
}

// Issue 6.3: the open pod is read again when it changes, and keeps its last state after it is gone.
func TestOpenPodIsReadAgainWhenItChanges(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, "table is corrupt"))
	api.report("train-a", "NodeHasTrouble")
	api.report("train-gone", "Evicted")
	s := startLive(t, api)
	s.open("train")
	key := types.NamespacedName{Namespace: "ns1", Name: "train"}
	s.source.Look(snapshot.Focus{Job: key, Pod: "train-a"})
	got := s.until("the pod is there", func(got *snapshot.Snapshot) bool { return got.Pod != nil })
	if got.Pod.Name != "train-a" || len(got.Pod.Events) != 1 || got.Pod.Gone || got.Job == nil || api.requests("/jobs?") > 5 { // list and watch of all Jobs and of this Job, list of its family
		t.Errorf("%+v", got.Pod)
	}
	s.untilWatching("jobs 2 pods 1 events 2")
	moved := clitest.EndedPod(train, "train-a", 42, "")
	moved.Status.Phase, moved.Status.Reason = corev1.PodFailed, "Evicted"
	api.pods.Put(moved)
	s.until("it changed", func(got *snapshot.Snapshot) bool { return got.Pod.Reason == "Evicted" })
	api.report("train-a", "Another")
	s.until("an event came", func(got *snapshot.Snapshot) bool { return len(got.Pod.Events) == 2 })
	api.pods.Remove("train-a")
	got = s.until("it is gone", func(got *snapshot.Snapshot) bool { return got.Pod.Gone })
	if got.Pod.Reason != "Evicted" || len(got.Pod.Events) != 2 {
		t.Errorf("%+v", got.Pod)
	}
	s.source.Look(snapshot.Focus{Job: key, Pod: "train-gone"})
	got = s.until("another is gone", func(got *snapshot.Snapshot) bool { return got.Pod != nil && got.Pod.Name == "train-gone" })
	if !got.Pod.Gone || len(got.Pod.Events) != 1 || got.Pod.Phase != "" {
		t.Errorf("%+v", got.Pod)
	}
	s.end()
}

// A hanging API server is detected; snapshots stay at the time of its last response (issue 17.2).
// Requirements: CLI-07
func TestSnapshotsOfASilentServerAreAsOfItsLastAnswer(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 1)
	job.Object["spec"].(map[string]any)["managedBy"] = "example.com/controller"
	api := newFakeLive(t, job)
	api.lease = &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "lease", Labels: map[string]string{"batchjob.dev/leases": "47aa70ef90d665e4", "batchjob.dev/shards": "1", "batchjob.dev/shard": "0"}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("host_1"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: ptr.To(metav1.NewMicroTime(clitest.Now())),
		},
	}
	s := startLiveAs(t, api, DefaultLogLines, func(env *cmdutil.Env) { env.Backoff.Patience = 3 * time.Second })
	s.open("a")
	s.untilWatching("jobs 2 pods 1 events 2")
	resume := api.api.Hang()
	hung := s.clock.Now()
	stale := s.until("it is silent", func(got *snapshot.Snapshot) bool { return got.Link.Silent })
	if since := *stale.Link.StaleSince; since.After(hung.Add(time.Second)) || stale.Link.Why != "no answer from the API server" {
		t.Errorf("hung at %s: %+v since %s", hung, stale.Link, since)
	}
	got := s.until("a minute has passed", func(got *snapshot.Snapshot) bool { return got.Time.Sub(stale.Time) > time.Minute })
	if !got.AsOf().Equal(stale.AsOf()) || got.Job.Report.ObservedAt.After(got.AsOf()) {
		t.Errorf("made at %s as of %s with a report of %s; it hung at %s", got.Time, got.AsOf(), got.Job.Report.ObservedAt, hung)
	}
	resume()
	s.until("it is back", func(got *snapshot.Snapshot) bool {
		return got.Link == (snapshot.Link{}) && got.Job.Report.ObservedAt.After(hung.Add(30*time.Second))
	})
	s.end()
}

// Issue 6.6, CLI-06, PRP-23: the Lease of the Job's controller is reread before it looks expired, and the nodes of
// pods that do not end are read.
func TestLeaseAndNodesAreLookedAt(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 1)
	job.Object["spec"].(map[string]any)["managedBy"] = "example.com/controller"
	api := newFakeLive(t, job)
	clock := clitest.NewClock()
	api.lease = &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "lease", Labels: map[string]string{"batchjob.dev/leases": "47aa70ef90d665e4", "batchjob.dev/shards": "1", "batchjob.dev/shard": "0"}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("host_1"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: ptr.To(metav1.NewMicroTime(clock.Now().Add(time.Hour))),
		},
	}
	late := clitest.EndedPod(job, "a-late", 0, "")
	late.Status.Phase, late.Spec.NodeName = corev1.PodRunning, "node-lost"
	late.DeletionTimestamp, late.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(clitest.Now().Add(-time.Hour))), ptr.To[int64](30)
	api.pods.Put(late)
	s := startLive(t, api)
	s.open("a")
	s.until("the Lease is told", func(got *snapshot.Snapshot) bool { return got.Job.Report.Reconciler.LeaseHolder == "host_1" })
	s.until("the node is told", func(got *snapshot.Snapshot) bool {
		return slices.ContainsFunc(got.Job.Report.Problems, func(p explain.Problem) bool { return p.Kind == explain.ProblemNodeGone })
	})
	leases, nodes := api.requests("/leases?"), api.requests("/nodes/")
	s.pass(25 * time.Second)
	if again := api.requests("/leases?") - leases; again > 5 {
		t.Errorf("the Lease was read %d times in 25 s", again)
	}
	if again := api.requests("/nodes/") - nodes; again > 1 {
		t.Errorf("nodes were read %d times in 25 s", again)
	}
	s.until("the Lease is read again and again", func(*snapshot.Snapshot) bool { return api.requests("/leases?") > leases+2 })
	s.end()
}
