package logs

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func following(t *testing.T, api *clitest.API, args ...string) *clitest.Session {
	t.Helper()
	return program.Start(t, api, clitest.NewEnv(), append([]string{"logs", "train", "-f", "--prefix=false"}, args...)...)
}

func finishTrain(api *clitest.API) {
	api.Put(clitest.WithCondition(clitest.LogsJob(), "Complete", "", ""))
}

// Lines are printed as they are written, retries are included, and the command ends with the Job.
// Requirements: CLI-07
func TestFollowedLogsJoinRetries(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	s := program.Start(t, api, clitest.NewEnv(), "logs", "train", "-f")
	s.WaitErr("job.batch/train has no pods (Running), waiting for them.\n")
	pods.Put(clitest.TrainPod("a", 1, 1, corev1.PodPending, clitest.Waits("ContainerCreating", "")))
	pods.Write("train-a/main", "one") // The fake API server has no log before.
	pods.Put(clitest.RunningPod("a", 1, 1))
	s.WaitOut("[index 1 attempt 1] one\n")
	pods.Write("train-a/main", "two")
	s.WaitOut("two\n")
	pods.WithLog(clitest.FailedPod("a", 1, 1))
	pods.Put(clitest.TrainPod("b", 1, 2, corev1.PodPending, clitest.Waits("ImagePullBackOff", "no such image")))
	s.WaitErr("No log from pod train-b, container main, which has not started: ImagePullBackOff: no such image\n")
	pods.Write("train-b/main", "retry")
	pods.Put(clitest.RunningPod("b", 1, 2))
	s.WaitOut("[index 1 attempt 2] retry\n")
	finishTrain(api)
	pods.Write("train-b/main", "last words")
	s.WaitOut("last words")
	pods.WithLog(clitest.TrainPod("b", 1, 2, corev1.PodSucceeded, clitest.Exited(0)))
	assert.Equal(t, s.End(), cmdutil.ExitDone)
	if got, want := s.Out.String(), "[index 1 attempt 1] one\n[index 1 attempt 1] two\n[index 1 attempt 2] retry\n[index 1 attempt 2] last words\n"; got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	assert.Equal(t, strings.Count(s.ErrOut.String(), "\n"), 2, s.ErrOut.String(), "stderr")
}

// A connection that breaks in the middle of a second neither repeats nor loses a line.
// Requirements: CLI-07
func TestLogsFollowReconnects(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.Put(clitest.RunningPod("a", 1, 1))
	at := clitest.Now().Add(1500 * time.Millisecond)
	pods.Write("train-a/main", "zero")
	pods.WriteAt("train-a/main", at.Add(-200*time.Millisecond), "same second")
	pods.WriteAt("train-a/main", at, "one", "two")
	s := following(t, api)
	s.WaitLines(4)
	pods.Cut()
	s.WaitErr("Lost connection")
	pods.WaitRequests(2)
	pods.WriteAt("train-a/main", at, "three")
	pods.WriteAt("train-a/main", at.Add(time.Millisecond), "four")
	s.WaitLines(6)
	s.WaitErr("Reconnected")
	pods.WithLog(clitest.FailedPod("a", 1, 1))
	finishTrain(api)
	s.Result().Want(t, cmdutil.ExitDone, "zero\nsame second\none\ntwo\nthree\nfour\n")
	if notes := s.ErrOut.String(); strings.Count(notes, "Lost connection") != 1 || strings.Count(notes, "Reconnected") != 1 {
		t.Errorf("stderr %q", notes)
	}
	if requests := pods.Requested(); !strings.Contains(requests[1], "sinceTime=2026-03-01T12%3A00%3A01Z") || strings.Contains(requests[0], "sinceTime") {
		t.Errorf("requests %q", requests)
	}
}

// unreachable returns the API server's response if it cannot reach the kubelet that has a log.
func unreachable(pod string) *clitest.Status {
	return &clitest.Status{Code: 500, Message: `Get "https://10.0.0.1:10250/containerLogs/ns1/` + pod + `/main?follow=true": dial tcp 10.0.0.1:10250: connect: connection refused`}
}

func onNode(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}

// A kubelet that cannot be reached is not a lost connection: the logs of other nodes continue, and so does its own
// once it can be reached (issue 17.4).
// Requirements: CLI-07
func TestUnreachableKubeletIsNoLostConnection(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.Put(onNode(clitest.RunningPod("a", 1, 1), "node-1"))
	pods.Put(onNode(clitest.RunningPod("b", 2, 1), "node-2"))
	pods.Write("train-a/main", "a one", "a two")
	pods.Write("train-b/main", "b one")
	s := following(t, api)
	s.WaitLines(3)
	pods.Locked(func() {
		pods.Refuse["train-a"] = unreachable("train-a")
		pods.Logs["train-a/main"].Ended = true // The API server ends the open response.
	})
	s.WaitErr("Cannot read the log of pod train-a, container main, retrying: the kubelet of node node-1 cannot be reached (dial tcp 10.0.0.1:10250: connect: connection refused)\n")
	pods.Write("train-b/main", "b two")
	s.WaitOut("b two\n")
	pods.WaitRequests(6)
	pods.Locked(func() {
		delete(pods.Refuse, "train-a")
		pods.Logs["train-a/main"].Ended = false
	})
	pods.Write("train-a/main", "a three")
	s.WaitOut("a three\n")
	s.WaitErr("The log of pod train-a, container main can be read again.\n")
	for i, name := range []string{"a", "b"} {
		pods.Put(clitest.FailedPod(name, i+1, 1))
		pods.End("train-" + name + "/main")
	}
	finishTrain(api)
	if code := s.End(); code != cmdutil.ExitDone || strings.Count(s.Out.String(), "\n") != 5 || strings.Count(s.ErrOut.String(), "\n") != 2 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.Out.String(), s.ErrOut.String())
	}
}

// If the container has ended, too, only its log is given up.
func TestUnreachableKubeletOfAnEndedContainer(t *testing.T) {
	for _, follow := range []string{"--follow=false", "--follow"} {
		api, pods := clitest.NewPods(t, clitest.WithCondition(clitest.LogsJob(), "Failed", "Why", ""))
		pods.WithLog(onNode(clitest.FailedPod("a", 1, 1), "node-1"), "a")
		pods.WithLog(onNode(clitest.FailedPod("b", 2, 1), "node-2"), "b")
		pods.Refuse["train-a"] = unreachable("train-a")
		got := program.Run(t, api, "logs", "train", "--prefix=false", follow)
		if got.Code != cmdutil.ExitError || got.Out != "b\n" || strings.Contains(got.ErrOut, "onnection to the API server") ||
			!strings.Contains(got.ErrOut, "Cannot read the log of pod train-a, container main: the kubelet of node node-1 cannot be reached (dial tcp") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", follow, got.Code, got.Out, got.ErrOut)
		}
		if api.Opened()+pods.Watches > 0 {
			t.Error("it watches what has finished")
		}
	}
}

// The Job is known to have finished before the watch delivers its last pod.
// Requirements: CLI-07
func TestLogsFollowReadsThePodThatTheWatchMissed(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.Locked(func() { pods.Blind = true })
	s := following(t, api)
	s.WaitErr("no pods")
	pods.WithLog(clitest.FailedPod("quick", 1, 1), "quick one")
	finishTrain(api)
	s.Result().Want(t, cmdutil.ExitDone, "quick one\n")
}

func TestLogsFollowDeletedJob(t *testing.T) {
	for _, recreate := range []bool{false, true} {
		api, pods := clitest.NewPods(t, clitest.LogsJob())
		pods.Put(clitest.RunningPod("a", 1, 1))
		pods.Write("train-a/main", "a")
		s := following(t, api)
		s.WaitOut("a\n")
		clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, s.ErrOut.String)
		if recreate {
			other := clitest.LogsJob()
			other.SetUID("another")
			api.Put(other)
		} else {
			api.Remove(clitest.LogsJob())
		}
		pods.Remove("train-a")
		pods.End("train-a/main")
		want := "error: job.batch/train was deleted before it finished\n"
		if recreate {
			want = "error: job.batch/train was deleted before it finished, and another was created\n"
		}
		s.Result().Is(t, cmdutil.ExitError, "a\n", want)
	}
}

// Pods that fail later are included.
func TestLogsFollowFailed(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.Put(clitest.RunningPod("a", 1, 1))
	pods.Put(clitest.RunningPod("b", 2, 1))
	pods.Write("train-a/main", "a")
	pods.Write("train-b/main", "b")
	s := following(t, api, "--failed")
	s.WaitErr("No existing pod of job.batch/train has failed.")
	pods.WithLog(clitest.FailedPod("b", 2, 1))
	s.WaitOut("b\n")
	pods.Put(clitest.TrainPod("a", 1, 1, corev1.PodSucceeded, clitest.Exited(0)))
	finishTrain(api)
	s.Result().Want(t, cmdutil.ExitDone, "b\n")
}
