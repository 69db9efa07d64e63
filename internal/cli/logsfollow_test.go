package cli

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func following(t *testing.T, api *fakeAPI, args ...string) *session {
	t.Helper()
	return program.start(t, api, testEnvironment(), append([]string{"logs", "train", "-f", "--prefix=false"}, args...)...)
}

func finishTrain(api *fakeAPI) { api.put(withCondition(logsJob(), "Complete", "", "")) }

// Lines come as they are written, retries join, and it ends with the Job.
func TestLogsFollow_CLI_07(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	s := program.start(t, api, testEnvironment(), "logs", "train", "-f")
	s.waitErr("job.batch/train has no pods (Running), waiting for them.\n")
	pods.put(trainPod("a", 1, 1, corev1.PodPending, waits("ContainerCreating", "")))
	pods.put(runningPod("a", 1, 1))
	pods.write("train-a/main", "one")
	s.waitOut("[index 1 attempt 1] one\n")
	pods.write("train-a/main", "two")
	s.waitOut("two\n")
	pods.put(failedPod("a", 1, 1))
	pods.end("train-a/main")
	pods.put(trainPod("b", 1, 2, corev1.PodPending, waits("ImagePullBackOff", "no such image")))
	s.waitErr("No log of pod train-b, container main, which has not started: ImagePullBackOff: no such image\n")
	pods.write("train-b/main", "retry")
	pods.put(runningPod("b", 1, 2))
	s.waitOut("[index 1 attempt 2] retry\n")
	finishTrain(api)
	pods.write("train-b/main", "last words")
	s.waitOut("last words")
	pods.put(trainPod("b", 1, 2, corev1.PodSucceeded, exited(0)))
	pods.end("train-b/main")
	if code := s.end(); code != exitDone {
		t.Errorf("exit %d", code)
	}
	if got, want := s.out.String(), "[index 1 attempt 1] one\n[index 1 attempt 1] two\n[index 1 attempt 2] retry\n[index 1 attempt 2] last words\n"; got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if notes := strings.Count(s.errOut.String(), "\n"); notes != 2 {
		t.Errorf("stderr:\n%s", s.errOut.String())
	}
}

// A connection that breaks in the middle of a second neither repeats nor loses a line.
func TestLogsFollowReconnects_CLI_07(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.put(runningPod("a", 1, 1))
	at := testNow().Add(1500 * time.Millisecond)
	pods.write("train-a/main", "zero")
	pods.writeAt("train-a/main", at.Add(-200*time.Millisecond), "same second")
	pods.writeAt("train-a/main", at, "one", "two")
	s := following(t, api)
	s.waitLines(4)
	pods.cut()
	s.waitErr("is lost")
	pods.waitRequests(2)
	pods.writeAt("train-a/main", at, "three")
	pods.writeAt("train-a/main", at.Add(time.Millisecond), "four")
	s.waitLines(6)
	s.waitErr("is back")
	pods.put(failedPod("a", 1, 1))
	pods.end("train-a/main")
	finishTrain(api)
	if code := s.end(); code != exitDone || s.out.String() != "zero\nsame second\none\ntwo\nthree\nfour\n" {
		t.Errorf("exit %d, %q", code, s.out.String())
	}
	if notes := s.errOut.String(); strings.Count(notes, "is lost") != 1 || strings.Count(notes, "is back") != 1 {
		t.Errorf("stderr %q", notes)
	}
	if requests := pods.requested(); !strings.Contains(requests[1], "sinceTime=2026-03-01T12%3A00%3A01Z") || strings.Contains(requests[0], "sinceTime") {
		t.Errorf("requests %q", requests)
	}
}

// The server may end a stream of a container that goes on.
func TestLogsFollowStreamEndsEarly_CLI_07(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.put(runningPod("a", 1, 1))
	pods.write("train-a/main", "one")
	pods.locked(func() { pods.logs["train-a/main"].ended = true; pods.logs["train-a/main"].tail = "hal" })
	s := following(t, api)
	pods.waitRequests(3)
	pods.locked(func() { pods.logs["train-a/main"].tail = "" })
	pods.write("train-a/main", "half")
	s.waitOut("half\n")
	pods.put(failedPod("a", 1, 1))
	finishTrain(api)
	if code := s.end(); code != exitDone || s.out.String() != "one\nhalf\n" || s.errOut.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
	}
}

// --tail counts once: after a lost connection all that is new counts.
func TestLogsFollowTail_CLI_07(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.put(runningPod("a", 1, 1))
	pods.write("train-a/main", "old", "older", "last")
	s := following(t, api, "--tail=1")
	s.waitOut("last\n")
	pods.cut()
	pods.waitRequests(2)
	pods.write("train-a/main", "b", "c", "d")
	s.waitOut("d\n")
	s.interrupt()
	if code := s.end(); code != exitInterrupted || s.out.String() != "last\nb\nc\nd\n" {
		t.Errorf("exit %d, %q", code, s.out.String())
	}
	if requests := pods.requested(); strings.Contains(requests[1], "tailLines") || !strings.Contains(requests[0], "tailLines=1") {
		t.Errorf("requests %q", requests)
	}
}

func TestLogsFollowCap(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	for i, name := range []string{"a", "b", "c", "d"} {
		pods.put(runningPod(name, i, 1))
		pods.write("train-"+name+"/main", "from "+name)
	}
	s := following(t, api, "--max-log-requests=2")
	s.waitErr("2 logs are followed at a time (--max-log-requests); 2 more wait until one ends.\n")
	s.waitOut("from a")
	s.waitOut("from b")
	if strings.Contains(s.out.String(), "from c") {
		t.Error("c is read too")
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		s.waitOut("from " + name)
		pods.put(failedPod(name, i, 1))
		pods.end("train-" + name + "/main")
	}
	finishTrain(api)
	if code := s.end(); code != exitDone || strings.Count(s.out.String(), "\n") != 4 || strings.Count(s.errOut.String(), "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
	}
	if pods.most > 2 {
		t.Errorf("%d at a time", pods.most)
	}
}

// The Job is known to have finished before the watch tells of its last pod.
func TestLogsFollowReadsThePodThatTheWatchMissed_CLI_07(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.locked(func() { pods.blind = true })
	s := following(t, api)
	s.waitErr("no pods")
	pods.withLog(failedPod("quick", 1, 1), "quick one")
	finishTrain(api)
	if code := s.end(); code != exitDone || s.out.String() != "quick one\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
	}
}

func TestLogsFollowFinishedJob(t *testing.T) {
	api, pods := newFakeLogs(t, withCondition(logsJob(), "Failed", "Why", ""))
	pods.withLog(failedPod("a", 1, 1), "a")
	pods.withLog(failedPod("b", 2, 1), "b")
	pods.refuse["train-b"] = &fakeStatus{500, "InternalError", "no such node"}
	s := following(t, api)
	if code := s.end(); code != exitError || s.out.String() != "a\n" || !strings.Contains(s.errOut.String(), "Cannot read the log of pod train-b, container main: no such node\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
	}
	if api.opened()+pods.watches > 0 {
		t.Error("it watches what has finished")
	}
}

func TestLogsFollowDeletedJob(t *testing.T) {
	for _, recreate := range []bool{false, true} {
		api, pods := newFakeLogs(t, logsJob())
		pods.put(runningPod("a", 1, 1))
		pods.write("train-a/main", "a")
		s := following(t, api)
		s.waitOut("a\n")
		waitFor(t, func() bool { return api.opened() > 0 }, s.errOut.String)
		if recreate {
			other := logsJob()
			other.SetUID("another")
			api.put(other)
		} else {
			api.remove(logsJob())
		}
		pods.remove("train-a")
		pods.end("train-a/main")
		if code := s.end(); code != exitError || s.errOut.String() != "error: job.batch/train was deleted before it had finished\n" {
			t.Errorf("exit %d, stderr %q", code, s.errOut.String())
		}
	}
}

// What fails later joins.
func TestLogsFollowFailed(t *testing.T) {
	api, pods := newFakeLogs(t, logsJob())
	pods.put(runningPod("a", 1, 1))
	pods.put(runningPod("b", 2, 1))
	pods.write("train-a/main", "a")
	pods.write("train-b/main", "b")
	s := following(t, api, "--failed")
	s.waitErr("No pod of job.batch/train that is there has failed.")
	pods.withLog(failedPod("b", 2, 1))
	s.waitOut("b\n")
	pods.put(trainPod("a", 1, 1, corev1.PodSucceeded, exited(0)))
	finishTrain(api)
	if code := s.end(); code != exitDone || s.out.String() != "b\n" {
		t.Errorf("exit %d, stdout %q", code, s.out.String())
	}
}
