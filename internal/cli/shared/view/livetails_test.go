package view

import (
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Issue 6.4: a log that could not be read for the evidence is read later, once; a log that is gone is not requested
// again.
func TestMissingLogTailIsReadLater(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train)
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	api.pods.Write("train-a/main", "the reason")
	api.pods.Refuse["train-a"] = &clitest.Status{Code: 503, Reason: "ServiceUnavailable", Message: "try again"}
	s := startLive(t, api)
	s.open("train")
	s.until("the reason is shown", func(got *snapshot.Snapshot) bool {
		return gapsOf(got) == "the log of pod train-a could not be read: try again"
	})
	asked := api.requests("/log?")
	s.pass(100 * time.Second)
	if n := api.requests("/log?") - asked; n > 4 {
		t.Errorf("asked %d times more in 100 s", n)
	}
	s.until("it is asked for again", func(*snapshot.Snapshot) bool { return api.requests("/log?") > asked })
	api.pods.Locked(func() { delete(api.pods.Refuse, "train-a") })
	s.until("it is read", func(got *snapshot.Snapshot) bool {
		return gapsOf(got) == "" && strings.Contains(evidenceLines(got), "the reason")
	})
	n := api.requests("/log?")
	s.pass(100 * time.Second)
	if again := api.requests("/log?"); again != n {
		t.Errorf("asked %d times more", again-n)
	}
	s.end()

	gone := newFakeLive(t, train)
	gone.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	g := startLive(t, gone)
	g.open("train")
	g.until("the reason is shown", func(got *snapshot.Snapshot) bool {
		return gapsOf(got) == "the log of pod train-a could not be read: it is gone"
	})
	g.pass(100 * time.Second)
	assert.Equal(t, gone.requests("/log?"), 1, "requests for what is gone")
	g.end()
}

// The log of a container in a crash loop is read again after each restart.
func TestLogOfARestartedContainerIsReadAgain(t *testing.T) {
	train := clitest.SimpleJob("ns1", "train", 0)
	template := map[string]any{"spec": map[string]any{"restartPolicy": "OnFailure", "containers": []any{map[string]any{"name": "main", "image": "train:1"}}}}
	assert.NoError(t, unstructured.SetNestedMap(train.Object, template, "spec", "template"))
	restarted := func(times int32, ended time.Duration) *corev1.Pod {
		pod := clitest.EndedPod(train, "train-a", 1, "")
		pod.Status.Phase = corev1.PodRunning
		status := &pod.Status.ContainerStatuses[0]
		status.RestartCount, status.LastTerminationState = times, status.State
		status.LastTerminationState.Terminated.FinishedAt = metav1.NewTime(clitest.Now().Add(-ended))
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: explain.CrashLoopBackOff}}
		return pod
	}
	api := newFakeLive(t, train)
	api.pods.Put(restarted(1, time.Minute))
	api.pods.Write("train-a/main/previous", "the first reason")
	s := startLive(t, api)
	s.open("train")
	s.until("the first log is read", func(got *snapshot.Snapshot) bool { return strings.Contains(evidenceLines(got), "the first reason") })
	api.pods.Locked(func() { delete(api.pods.Logs, "train-a/main/previous") })
	api.pods.Write("train-a/main/previous", "the second reason")
	api.pods.Put(restarted(2, time.Second))
	s.until("the next log is read", func(got *snapshot.Snapshot) bool { return strings.Contains(evidenceLines(got), "the second reason") })
	s.end()
}

func evidenceLines(s *snapshot.Snapshot) string {
	var lines []string
	for i := range s.Job.Report.Evidence {
		lines = append(lines, s.Job.Report.Evidence[i].Lines...)
	}
	return strings.Join(lines, "\n")
}

// Issue 6.4: why --log-lines sets the number of lines in the evidence.
func TestLogLinesAreAsManyAsAskedFor(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	for _, lines := range []int64{0, 3} {
		api := newFakeLive(t, train)
		api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
		api.pods.Write("train-a/main", "one", "two", "three", "four")
		s := startLiveWith(t, api, lines)
		s.open("train")
		if lines == 0 {
			s.pass(time.Minute)
		} else {
			s.until("the log is there", func(got *snapshot.Snapshot) bool { return evidenceLines(got) != "" })
		}
		want := map[int64]string{0: "", 3: "two\nthree\nfour"}[lines]
		assert.Equal(t, evidenceLines(s.latest()), want, lines, "lines")
		s.end()
	}
}

// Issue 6.4: the number of lines reaches the source, and is ten by default.
func TestLogLinesAreTenByDefault(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, clitest.NewAPI(t).URL()))
	choice := cmdutil.JobChoice{Names: []string{"train"}}
	one, err := OpenLive(3, cmdutil.NewKubeFlags(), choice, io.Discard, clitest.NewEnv())
	if err != nil || one.source.LogLines != 3 {
		t.Errorf("%v, %+v", err, one)
	}
	other, err := OpenLive(DefaultLogLines, cmdutil.NewKubeFlags(), choice, io.Discard, clitest.NewEnv())
	if err != nil || other.source.LogLines != DefaultLogLines {
		t.Errorf("%v, %+v", err, other)
	}
}
