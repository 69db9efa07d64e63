package view

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// refuseWatches rejects watches of paths with this suffix; "" for all.
func (l *fakeLive) refuseWatches(suffix string) {
	l.api.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, suffix) && r.URL.Query().Get("watch") == "true" {
			return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no watch"}
		}
		return nil
	})
}

// Issue 6, CLI-08: a user who may only get and list sees everything, a little later, with a notice; nothing counts as
// stale.
func TestListsReplaceAForbiddenWatch(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	delete(train.Object["status"].(map[string]any), "conditions")
	api := newFakeLive(t, train)
	api.refuseWatches("")
	s := startLive(t, api, "train")
	s.open("train")
	const want = "no permission to watch jobs: they are read every 5s instead\nno permission to watch pods: they are read every 30s instead\n" +
		"no permission to watch events: they are read every 30s instead"
	got := s.until("the reason is shown", func(got *snapshot.Snapshot) bool { return gapsOf(got) == want })
	if gap := got.Job.Report.Gaps[1]; gap.What != "watch pods" || gap.Command != "kubectl auth can-i watch pods -n ns1" {
		t.Errorf("it looks as if there were no pods: %+v", gap)
	}
	const lists = "/jobs?fieldSelector="
	asked := api.requests(lists)
	s.pass(2 * time.Minute)
	if n := api.requests(lists) - asked; n > 25 {
		t.Errorf("listed %d times in 2 minutes", n)
	}
	s.until("they are listed again and again", func(*snapshot.Snapshot) bool { return api.requests(lists) > asked+8 })
	api.api.Put(clitest.ExplainedJob("ns1", "train"))
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	api.pods.Write("train-a/main", "reading")
	api.report("train-zzzzz", "Evicted")
	s.until("both see it", func(got *snapshot.Snapshot) bool {
		if got.Link != (snapshot.Link{}) {
			t.Fatalf("%+v", got.Link)
		}
		return got.Jobs.Items[0].Failed == 1 && got.Job.Report.Verdict.Outcome != "" && got.Job.Report.Verdict.Reason != ""
	})
	s.until("its pod is seen", func(got *snapshot.Snapshot) bool { return podNames(got) == "train-a" })
	api.api.SetRefuse(nil)
	s.until("all is watched", func(got *snapshot.Snapshot) bool { return gapsOf(got) == "" })
	s.untilWatching("jobs 1 pods 1 events 2")
	s.end()
}

// Issue 6.3, CLI-08: a log that temporarily could not be opened is read once it can be; until then the reason is
// shown.
func TestRefusedLogIsTriedAgain(t *testing.T) {
	for why, status := range map[string]*clitest.Status{
		"Unauthorized": {Code: 401, Reason: "Unauthorized", Message: "Unauthorized"}, "trouble": {Code: 500, Reason: "InternalError", Message: "trouble"},
		"no permission to get pods/log in namespace ns1": {Code: 403, Reason: "Forbidden", Message: "no"},
	} {
		api := newFakeLive(t, clitest.LogsJob())
		api.pods.Put(clitest.FailedPod("a", 1, 1))
		api.pods.Write("train-a/main", "one", "two")
		api.pods.End("train-a/main")
		api.pods.Refuse["train-a"] = status
		s := startLive(t, api)
		lookAtLog(s, "train-a", snapshot.LogTarget{})
		got := s.untilLog("the reason is shown", func(l *snapshot.Log) bool {
			return strings.HasSuffix(l.Why, " could not be read: "+why)
		})
		if got.Ended {
			t.Errorf("%s: given up", status.Reason)
		}
		api.pods.Locked(func() { delete(api.pods.Refuse, "train-a") })
		s.until("it is read", func(got *snapshot.Snapshot) bool {
			return logText(got) == "one two" && got.Log.Ended && got.Log.Why == ""
		})
		s.end()
	}
}

// Issue 6.3, CLI-08: a user who may not get the pod sees the reason in place of its log.
func TestRefusedPodIsShownInPlaceOfItsLog(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.Put(clitest.RunningPod("a", 1, 1))
	api.pods.Write("train-a/main", "one")
	api.rest.RefusePath("/pods/train-a", http.StatusForbidden, "Forbidden")
	s := startLive(t, api)
	lookAtLog(s, "train-a", snapshot.LogTarget{})
	const why = "pods could not be read: no permission to get pods in namespace ns1"
	s.untilLog("the reason is shown", func(l *snapshot.Log) bool { return l.Why == why && !l.Ended })
	if got := steady(s, time.Minute, logAndPod); got.log.Why != why || len(got.pod.Gaps) != 1 || got.pod.Gaps[0].Text != why {
		t.Errorf("log %+v, pod %+v", got.log, got.pod)
	}
	api.api.SetRefuse(nil)
	s.until("it is read", func(got *snapshot.Snapshot) bool {
		return logText(got) == "one" && got.Log.Why == "" && len(got.Pod.Gaps) == 0
	})
	read := s.latest().Pod
	api.rest.RefusePath("/pods/train-a", http.StatusForbidden, "Forbidden")
	lost := s.until("it is refused again", func(got *snapshot.Snapshot) bool { return len(got.Pod.Gaps) == 1 })
	if lost.Pod.Phase != "Running" || lost.Pod.Gaps[0].Text != why || logText(lost) != "one" || len(read.Gaps) != 0 {
		t.Errorf("%+v, before %+v", lost.Pod, read)
	}
	api.pods.Remove("train-a")
	api.api.SetRefuse(nil)
	s.until("it is gone", func(got *snapshot.Snapshot) bool { return got.Pod.Gone && len(got.Pod.Gaps) == 0 })
	api.rest.RefusePath("/pods/train-a", http.StatusForbidden, "Forbidden")
	s.until("and refused", func(got *snapshot.Snapshot) bool { return got.Pod.Gone && len(got.Pod.Gaps) == 1 })
	s.end()
}

// parts are parts of a Snapshot.
type parts struct {
	log  *snapshot.Log
	pod  *explain.PodDetail
	jobs *snapshot.Jobs
}

func logAndPod(s *snapshot.Snapshot) parts { return parts{s.Log, s.Pod, s.Jobs} }

// Issue 6: unchanged parts are shared between Snapshots, so that a recording does not write them again.
func TestUnchangedPartsAreShared(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.Put(clitest.RunningPod("a", 1, 1))
	api.pods.Write("train-a/main", "one", "two")
	s := startLive(t, api)
	lookAtLog(s, "train-a", snapshot.LogTarget{})
	s.until("it is read", func(got *snapshot.Snapshot) bool { return logText(got) == "one two" })
	steady(s, 90*time.Second, logAndPod)
	first := s.latest()
	api.pods.Write("train-a/main", "three")
	s.until("it goes on", func(got *snapshot.Snapshot) bool { return logText(got) == "one two three" })
	assert.Equal(t, logText(first), "one two", "an old Snapshot changed")
	s.end()
}
