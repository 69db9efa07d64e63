package view

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func logText(s *snapshot.Snapshot) string {
	if s.Log == nil {
		return "no log"
	}
	var lines []string
	for _, line := range s.Log.Lines {
		lines = append(lines, line.Text)
	}
	return strings.Join(lines, " ")
}

// lookAtLog opens a log of a pod of LogsJob.
func lookAtLog(s *liveSession, pod string, target snapshot.LogTarget) {
	s.source.Look(snapshot.Focus{Job: types.NamespacedName{Namespace: "ns1", Name: "train"}, Pod: pod, Log: &target})
}

func (s *liveSession) untilLog(what string, ok func(*snapshot.Log) bool) *snapshot.Log {
	s.t.Helper()
	return s.until(what, func(got *snapshot.Snapshot) bool { return got.Log != nil && ok(got.Log) }).Log
}

// Issue 6.3, CLI-07: a log is shown as it is written, neither repeats nor loses a line over reconnects, and ends with
// its container. Its lost connection makes nothing else stale.
func TestLiveLogNeitherRepeatsNorLosesLines(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.Put(clitest.RunningPod("a", 1, 1))
	api.pods.Write("train-a/main", "one", "two")
	s := startLive(t, api)
	lookAtLog(s, "train-a", snapshot.LogTarget{})
	s.until("there are lines", func(got *snapshot.Snapshot) bool { return logText(got) == "one two" })
	api.pods.Write("train-a/main", "three")
	got := s.until("there is another", func(got *snapshot.Snapshot) bool { return logText(got) == "one two three" })
	if got.Log.Container != "main" || got.Log.Ended || got.Log.Why != "" || got.Log.Lines[0].Time != clitest.Now() {
		t.Errorf("%+v", got.Log)
	}
	// The connection stays lost until the Snapshot shows it.
	api.api.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/log") {
			panic(http.ErrAbortHandler)
		}
		return nil
	})
	api.pods.Cut()
	lost := s.untilLog("it is lost", func(l *snapshot.Log) bool { return strings.Contains(l.Why, "lost connection") })
	if lost.Ended || s.latest().Link.StaleSince != nil {
		t.Errorf("%+v", lost)
	}
	api.api.SetRefuse(nil)
	api.pods.Write("train-a/main", "four")
	s.until("it goes on", func(got *snapshot.Snapshot) bool { return logText(got) == "one two three four" && got.Log.Why == "" })
	api.pods.WithLog(clitest.FailedPod("a", 1, 1))
	s.untilLog("it has ended", func(l *snapshot.Log) bool { return l.Ended && l.Why == "" && len(l.Lines) == 4 })
	s.source.Look(snapshot.Focus{})
	s.until("it is closed", func(got *snapshot.Snapshot) bool { return got.Log == nil && got.Pod == nil && got.Job == nil })
	s.end()
}

// A kubelet that cannot be reached is not a lost connection: the log keeps its lines, and continues once the kubelet
// answers (issue 17.4).
// Requirements: CLI-07
func TestLiveLogOfAnUnreachableKubelet(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	pod := clitest.RunningPod("a", 1, 1)
	pod.Spec.NodeName = "node-1"
	api.pods.Put(pod)
	api.pods.Write("train-a/main", "one")
	s := startLive(t, api)
	lookAtLog(s, "train-a", snapshot.LogTarget{})
	s.until("there are lines", func(got *snapshot.Snapshot) bool { return logText(got) == "one" })
	api.pods.Locked(func() {
		api.pods.Refuse["train-a"] = &clitest.Status{Code: 500, Message: "Get \"https://10.0.0.1:10250/containerLogs/ns1/train-a/main\": No agent available"}
		api.pods.Logs["train-a/main"].Ended = true
	})
	const want = "cannot read the log, retrying: the kubelet of node node-1 cannot be reached (No agent available)"
	got := s.untilLog("it is interrupted", func(l *snapshot.Log) bool { return l.Why == want })
	if got.Ended || len(got.Lines) != 1 || s.latest().Link.StaleSince != nil {
		t.Errorf("%+v", got)
	}
	api.pods.Locked(func() {
		delete(api.pods.Refuse, "train-a")
		api.pods.Logs["train-a/main"].Ended = false
	})
	api.pods.Write("train-a/main", "two")
	s.until("it continues", func(got *snapshot.Snapshot) bool { return logText(got) == "one two" && got.Log.Why == "" })
	s.end()
}

// Issue 6.3: the reason for a missing log is shown; the log follows once there is one.
func TestMissingLogHasItsReason(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.Put(clitest.TrainPod("a", 1, 1, corev1.PodPending, clitest.Waits("ImagePullBackOff", "no such image")))
	api.pods.Put(clitest.FailedPod("lost", 2, 1))
	away := clitest.FailedPod("node", 3, 1)
	away.Spec.NodeName = "node-1"
	api.pods.Put(away)
	api.pods.Refuse["train-node"] = &clitest.Status{Code: 500, Reason: "InternalError", Message: "Get \"https://10.0.0.1:10250/containerLogs/ns1\": dial tcp"}
	s := startLive(t, api)
	why := func(pod string, target snapshot.LogTarget, want string, ended bool) {
		t.Helper()
		s.source.Look(snapshot.Focus{})
		s.until("nothing is open", func(got *snapshot.Snapshot) bool { return got.Focus.Pod == "" })
		lookAtLog(s, pod, target)
		s.untilLog(want, func(l *snapshot.Log) bool { return l.Why == want && l.Ended == ended && l.Target == target })
	}
	why("train-a", snapshot.LogTarget{Container: "absent"}, `the pod has no container "absent"`, true)
	why("train-gone", snapshot.LogTarget{}, "the pod is gone, along with its log", true)
	why("train-lost", snapshot.LogTarget{}, "the log of pod train-lost could not be read: it is gone", true)
	why("train-lost", snapshot.LogTarget{Previous: true}, "the container was not restarted, so it has no previous log", true)
	why("train-node", snapshot.LogTarget{}, "the log of pod train-node could not be read: the kubelet of node node-1 cannot be reached", false)
	why("train-a", snapshot.LogTarget{}, "the container has not started: ImagePullBackOff: no such image", false)
	api.pods.Write("train-a/main", "at last")
	api.pods.Put(clitest.RunningPod("a", 1, 1))
	s.until("it starts", func(got *snapshot.Snapshot) bool { return logText(got) == "at last" && got.Log.Why == "" })
	s.end()
}

// Issue 6: the kept part of a log is bounded, in lines and in bytes; earlier Snapshots stay unchanged.
func TestLiveLogIsBounded(t *testing.T) {
	l := &liveLog{changed: func() {}}
	l.report("", false)
	for i := range maxLiveLines {
		l.add(clitest.Now(), fmt.Sprint(i))
	}
	before := l.Snapshot()
	for i := range 3 * maxLiveLines {
		l.add(clitest.Now(), fmt.Sprint("more ", i))
	}
	if got := l.Snapshot(); len(got.Lines) != maxLiveLines || got.Dropped != 3*maxLiveLines || got.Lines[maxLiveLines-1].Text != fmt.Sprint("more ", 3*maxLiveLines-1) {
		t.Errorf("%d lines, %d dropped", len(got.Lines), got.Dropped)
	}
	for i, line := range before.Lines {
		if line.Text != fmt.Sprint(i) {
			t.Fatalf("an old Snapshot changed: line %d is %q", i, line.Text)
		}
	}
	long := []byte(strings.Repeat("x", maxLiveLine+10))
	for range 2 * maxLiveLog / maxLiveLine {
		for _, part := range []logs.Line{{Text: long[:100], First: true}, {Text: long[100:]}, {Text: long, Last: true}} {
			assert.NoError(t, l.print(part))
		}
	}
	got, bytes := l.Snapshot(), 0
	for _, line := range got.Lines {
		bytes += len(line.Text)
	}
	if bytes > maxLiveLog || bytes != l.bytes || len(got.Lines) < 100 {
		t.Errorf("%d bytes, counted %d, in %d lines", bytes, l.bytes, len(got.Lines))
	}
	if text := got.Lines[0].Text; len(text) != maxLiveLine+len("…") || !strings.HasSuffix(text, "x…") || strings.Count(text, "…") != 1 {
		t.Errorf("a long line has %d bytes and ends with %q", len(text), text[len(text)-10:])
	}
}

// The logs of all failed pods are read one after the other, each once, with at most ten requests at a time, and those of later
// failures follow. A line says for each reason why logs are missing.
// Requirements: VIE-13
func TestLogsOfFailedPods(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.WithLog(clitest.FailedPod("b", 2, 1), "two", "2 more")
	api.pods.WithLog(clitest.FailedPod("a", 1, 1), "one")
	api.pods.WithLog(clitest.FailedPod("quiet", 3, 1))
	api.pods.Put(clitest.RunningPod("runs", 4, 1))
	for i := range 2 {
		away := clitest.FailedPod(fmt.Sprint("away", i), 5+i, 1)
		away.Spec.NodeName = "node-1"
		api.pods.Put(away)
		api.pods.Refuse[away.Name] = &clitest.Status{Code: 500, Reason: "InternalError", Message: "Get \"https://10.0.0.1:10250/containerLogs/ns1\": dial tcp"}
	}
	s := startLiveWith(t, api, 0)
	lookAtLog(s, "", snapshot.LogTarget{Failed: true})
	got := s.untilLog("all are read", func(l *snapshot.Log) bool { return l.Ended && len(l.Lines) > 0 })
	want := "Cannot read the logs of 2 pods: their nodes do not answer (node-1).\n1 failed pod has no lines in its log."
	if all := prefixed(got); all != "[index 1 attempt 1] one|[index 2 attempt 1] two|[index 2 attempt 1] 2 more" || got.Why != want {
		t.Errorf("%s, because %s", all, got.Why)
	}
	assert.Equal(t, api.requests("/log?"), 5, "requests for 5 logs")
	api.pods.WithLog(clitest.FailedPod("runs", 4, 1), "four")
	got = s.untilLog("a later one follows", func(l *snapshot.Log) bool { return l.Ended && len(l.Lines) == 4 })
	if all := prefixed(got); !strings.HasSuffix(all, "|[index 4 attempt 1] four") || got.Why != want {
		t.Errorf("%s, because %s", all, got.Why)
	}
	assert.Equal(t, api.requests("/log?"), 6, "requests for 6 logs")
	s.end()
}

func prefixed(log *snapshot.Log) string {
	var lines []string
	for _, line := range log.Lines {
		lines = append(lines, line.Pod+" "+line.Text)
	}
	return strings.Join(lines, "|")
}

// Of very many failed pods, only the latest are read, and a line says so.
// Requirements: VIE-13
func TestLogsOfFailedPodsAreBounded(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	for i := range maxFailedRuns + 20 {
		api.pods.WithLog(clitest.FailedPod(fmt.Sprint("p", i), i, 1), fmt.Sprint("line ", i))
	}
	s := startLiveWith(t, api, 0)
	lookAtLog(s, "", snapshot.LogTarget{Failed: true})
	got := s.untilLog("they are read", func(l *snapshot.Log) bool { return l.Ended })
	if len(got.Lines) != maxFailedRuns || got.Why != "20 failed pods are not read: only the latest 100 are." {
		t.Errorf("%d lines, %s", len(got.Lines), got.Why)
	}
	s.end()
}

// Without the permission, the reason is shown once, and the logs are read when they may be.
// Requirements: VIE-13, CLI-08
func TestForbiddenLogsOfFailedPods(t *testing.T) {
	api := newFakeLive(t, clitest.LogsJob())
	api.pods.WithLog(clitest.FailedPod("a", 1, 1), "one")
	api.pods.WithLog(clitest.FailedPod("b", 2, 1), "two")
	api.rest.RefusePath("/log", http.StatusForbidden, "Forbidden")
	s := startLiveWith(t, api, 0)
	lookAtLog(s, "", snapshot.LogTarget{Failed: true})
	s.untilLog("it is refused", func(l *snapshot.Log) bool {
		return strings.HasSuffix(l.Why, "no permission to get pods/log in namespace ns1") && !strings.Contains(l.Why, "\n")
	})
	api.api.SetRefuse(nil)
	s.until("they are read", func(got *snapshot.Snapshot) bool { return logText(got) == "one two" && got.Log.Why == "" })
	s.end()
}
