package logs

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// evalJob returns a Job, besides LogsJob, that is not Indexed.
func evalJob() *unstructured.Unstructured {
	job := clitest.LogsJob()
	job.SetName("eval")
	job.SetUID("ns1-eval")
	job.SetLabels(map[string]string{"app": "eval"})
	unstructured.RemoveNestedField(job.Object, "spec", "completionMode")
	_ = unstructured.SetNestedStringMap(job.Object, map[string]string{"job": "eval"}, "spec", "selector", "matchLabels")
	return job
}

// evalPod turns a pod that clitest made for train into a pod of that Job.
func evalPod(pod *corev1.Pod) *corev1.Pod {
	pod.Name = "eval-" + strings.TrimPrefix(pod.Name, "train-")
	pod.UID = "eval-" + pod.UID
	pod.Labels["job"] = "eval"
	pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = "eval", types.UID("ns1-eval")
	return pod
}

// All Jobs are followed until the last has finished; the limit of concurrent logs applies to all Jobs together.
// Requirements: CLI-07
func TestFollowedLogsOfSeveralJobs(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob(), evalJob())
	pods.Put(clitest.RunningPod("a", 1, 1))
	pods.Put(evalPod(clitest.RunningPod("b", -1, 1)))
	pods.Put(clitest.RunningPod("c", 2, 1))
	for _, log := range []string{"train-a", "eval-b", "train-c"} {
		pods.Write(log+"/main", "from "+log)
	}
	s := program.Start(t, api, clitest.NewEnv(), "logs", "-l", "app", "-f", "--max-log-requests=2", "--prefix=false")
	s.WaitErr("Following 2 logs at a time (--max-log-requests); 1 more waiting for one to end.\n")
	s.WaitOut("from eval-b\n")
	other := clitest.SimpleJob("ns1", "other", 0)
	api.Put(other) // It matches the selector, and began later.
	pods.Put(evalPod(clitest.FailedPod("b", -1, 1)))
	pods.End("eval-b/main")
	api.Put(clitest.WithCondition(evalJob(), "Failed", "Why", ""))
	s.WaitOut("from train-c\n")
	pods.WithLog(clitest.FailedPod("late", 5, 1), "from a later pod")
	for i, name := range []string{"a", "c"} {
		pods.Put(clitest.FailedPod(name, i+1, 1))
		pods.End("train-" + name + "/main")
	}
	s.WaitOut("from a later pod\n")
	finishTrain(api)
	if code := s.End(); code != cmdutil.ExitDone || strings.Count(s.Out.String(), "\n") != 4 || strings.Contains(s.ErrOut.String(), "error") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.Out.String(), s.ErrOut.String())
	}
	if pods.Most > 2 {
		t.Errorf("%d at a time", pods.Most)
	}
}

// A deleted Job is an error, reported after the others have ended.
func TestFollowedLogsOfSeveralJobsOfWhichOneIsDeleted(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob(), evalJob())
	pods.Put(clitest.RunningPod("a", 1, 1))
	pods.Write("train-a/main", "one")
	s := following(t, api, "eval")
	s.WaitOut("one\n")
	clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, s.ErrOut.String)
	api.Remove(evalJob())
	pods.Write("train-a/main", "two")
	s.WaitOut("two\n")
	pods.WithLog(clitest.FailedPod("a", 1, 1))
	finishTrain(api)
	if code := s.End(); code != cmdutil.ExitError || !strings.HasSuffix(s.ErrOut.String(), "\nerror: job.batch/eval was deleted before it finished\n") {
		t.Errorf("exit %d, stderr %q", code, s.ErrOut.String())
	}
}

// A named pod is followed until it has ended, even from before its start; its Job may continue.
func TestFollowedLogOfOnePod(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.Put(clitest.TrainPod("a", 1, 1, corev1.PodPending, clitest.Waits("ContainerCreating", "")))
	pods.Put(clitest.RunningPod("b", 2, 1))
	pods.Write("train-b/main", "from another")
	s := program.Start(t, api, clitest.NewEnv(), "logs", "pod/train-a", "-f")
	clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, s.ErrOut.String)
	pods.Write("train-a/main", "one")
	pods.Put(clitest.RunningPod("a", 1, 1))
	s.WaitOut("one\n")
	pods.WithLog(clitest.FailedPod("a", 1, 1))
	s.Result().Is(t, cmdutil.ExitDone, "[index 1 attempt 1] one\n", "")
}
