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

// twoJobs returns a cluster with train, which has a failed and a running pod, and eval, which has a failed pod.
func twoJobs(t *testing.T) (*clitest.API, *clitest.Pods) {
	t.Helper()
	api, pods := clitest.NewPods(t, clitest.LogsJob(), evalJob())
	pods.WithLog(clitest.FailedPod("f", 3, 1), "train failed")
	pods.WithLog(clitest.RunningPod("r", 2, 1), "train runs")
	pods.WithLog(evalPod(clitest.FailedPod("f", -1, 1)), "eval failed")
	return api, pods
}

// Issue 17: logs of several Jobs, by name or selector, with the Job in the prefix; and of one pod.
func TestLogsOfSeveralJobs(t *testing.T) {
	api, _ := twoJobs(t)
	const both = "[eval f]                  eval failed\n" +
		"[train index 3 attempt 1] train failed\n" +
		"[train index 2 attempt 1] train runs\n"
	for args, want := range map[string]string{
		"train eval":              both,
		"job train eval":          both,
		"job/eval job/train eval": both,
		"-l app":                  both,
		"-l app=eval":             "[f] eval failed\n",
		"train eval --failed -c main --prefix=false": "eval failed\ntrain failed\n",
		"pod/train-f":             "[index 3 attempt 1] train failed\n",
		"po/train-r pods/train-f": "[index 3 attempt 1] train failed\n[index 2 attempt 1] train runs\n",
		"pod/train-r pod/eval-f":  "[eval f]                  eval failed\n[train index 2 attempt 1] train runs\n",
		"pod/train-r --failed":    "",
		"eval train --limit-bytes 5 -c main --prefix=false": "eval \ntrain\ntrain\n",
	} {
		got := program.Run(t, api, append([]string{"logs"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitDone || got.Out != want || got.ErrOut != "" {
			t.Errorf("%s: exit %d, stderr %q, stdout:\n%s\nwant:\n%s", args, got.Code, got.ErrOut, got.Out, want)
		}
	}
	if got := program.Run(t, api, "logs", "-l", "app=none"); got.Code != cmdutil.ExitDone || got.ErrOut != "No jobs found in ns1 namespace with labels app=none.\n" {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
	if got := program.Run(t, api, "logs", "train", "eval", "--index", "3"); got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, "job.batch/eval is not one") {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
}

// A Job that does not exist does not affect the others.
func TestLogsOfSeveralJobsOfWhichOneIsMissing(t *testing.T) {
	api, pods := twoJobs(t)
	const missing = `job "absent" not found in namespace "ns1"; list what exists with: kubectl get jobs.batch -n ns1` + "\n"
	got := program.Run(t, api, "logs", "train", "absent", "eval", "--prefix=false")
	if got.Code != cmdutil.ExitError || got.Out != "eval failed\ntrain failed\ntrain runs\n" || got.ErrOut != "error: "+missing {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	api.Put(clitest.WithCondition(clitest.LogsJob(), "Complete", "", ""))
	pods.Put(clitest.TrainPod("r", 2, 1, corev1.PodSucceeded, clitest.Exited(0)))
	got = program.Run(t, api, "logs", "train", "absent", "-f", "--prefix=false")
	if got.Code != cmdutil.ExitError || strings.Count(got.Out, "\n") != 2 || got.ErrOut != "Following the others: "+missing+"error: "+missing {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	got = program.Run(t, api, "logs", "pod/absent", "pod/train-f")
	if got.Code != cmdutil.ExitError || got.Out != "[index 3 attempt 1] train failed\n" || !strings.HasPrefix(got.ErrOut, `error: pod "absent" not found in namespace "ns1"; `) {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	plain := clitest.RunningPod("plain", -1, 1)
	plain.OwnerReferences = nil
	pods.WithLog(plain, "text")
	got = program.Run(t, api, "logs", "pod/train-plain")
	if want := "error: pod \"train-plain\" is not controlled by a Job; read its log with: kubectl logs train-plain -n ns1\n"; got.Code != cmdutil.ExitError || got.Out != "" || got.ErrOut != want {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	orphan := clitest.RunningPod("orphan", 4, 1)
	orphan.OwnerReferences[0].UID = "before"
	pods.WithLog(orphan, "text")
	if got = program.Run(t, api, "logs", "pod/train-orphan"); got.Out != "" || got.ErrOut != "Pod train-orphan is gone, along with its logs.\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
}

func TestLogsOfSeveralJobsWithoutTheContainer(t *testing.T) {
	api, pods := twoJobs(t)
	got := program.Run(t, api, "logs", "train", "eval", "-c", "nope")
	if got.Code != cmdutil.ExitError || got.Out != "" || got.ErrOut != "error: no pod of job.batch/eval has a container nope; its pod template has: main\n"+
		"error: no pod of job.batch/train has a container nope; its pod template has: main\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	pods.Remove("eval-f")
	got = program.Run(t, api, "logs", "train", "eval", "--tail=0")
	if got.Code != cmdutil.ExitDone || got.ErrOut != "job.batch/eval has no pods (Running).\n" {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
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
	pods.Put(clitest.FailedPod("a", 1, 1))
	pods.End("train-a/main")
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
	pods.Put(clitest.FailedPod("a", 1, 1))
	pods.End("train-a/main")
	if code := s.End(); code != cmdutil.ExitDone || s.Out.String() != "[index 1 attempt 1] one\n" || s.ErrOut.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.Out.String(), s.ErrOut.String())
	}
}
