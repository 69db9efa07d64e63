package explain

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// stalledJob adds a Job whose only pod cannot pull its image.
func stalledJob(t *testing.T, o *clitest.Objects, namespace, name string) {
	t.Helper()
	job := clitest.SimpleJob(namespace, name, 0)
	job.Object["status"].(map[string]any)["active"] = int64(1)
	o.API.Put(job)
	pod := clitest.EndedPod(job, name+"-a", 0, "")
	pod.Status.Phase, pod.Labels["batch.kubernetes.io/job-name"] = corev1.PodPending, name
	pod.Status.ContainerStatuses[0].State = clitest.Waits("ImagePullBackOff", "not found")
	o.Pods.Put(pod)
}

// Requirements: CLI-21
func TestWithoutANameFailedAndStalledJobsAreExplained(t *testing.T) {
	o := clitest.NewExplained(t, clitest.CompleteJob("done"), clitest.SimpleJob("ns1", "fine", 3), clitest.ExplainedJob("ns2", "other"))
	stalledJob(t, o, "ns1", "stuck")
	for args, want := range map[string]string{
		"":       "ns1/stuck ns1/train",
		"-n ns2": "ns2/other",
		"-n ns3": "",
	} {
		got := program.Run(t, o.API, append([]string{"why", "-o", "json"}, strings.Fields(args)...)...)
		if names, _ := jobsIn(t, got.Out); got.Code != 0 || strings.Join(names, " ") != want {
			t.Errorf("%q: exit %d, %q, want %q; %s", args, got.Code, names, want, got.ErrOut)
		}
	}
	all := program.Run(t, o.API, "why", "-A", "-o", "json")
	if names, _ := jobsIn(t, all.Out); !strings.Contains(strings.Join(names, " "), "ns1/train ns2/other") {
		t.Errorf("%q; %s", names, all.ErrOut)
	}
	if one := program.Run(t, o.API, "why", "-n", "ns2"); one.Code != 0 || !strings.Contains(one.Out, "other") {
		t.Errorf("exit %d, %s%s", one.Code, one.Out, one.ErrOut)
	}
	none := program.Run(t, o.API, "why", "-n", "ns3")
	if none.Code != 0 || none.Out != "" || none.ErrOut != "Nothing to explain: no Job in namespace \"ns3\" has failed or is stalled (of 0 Jobs).\n" {
		t.Errorf("exit %d, %q, %q", none.Code, none.Out, none.ErrOut)
	}
}

// However many Jobs have failed, only some are read.
//
// Requirements: CLI-21
func TestWithoutANameTheNewestJobsAreExplained(t *testing.T) {
	o := clitest.NewObjects(t)
	for i := range maxUnnamed + 2 {
		job := clitest.FailedJob(fmt.Sprintf("f%03d", i))
		job.SetLabels(nil)
		o.API.Put(job)
	}
	got := program.Run(t, o.API, "why", "-o", "json")
	if names, _ := jobsIn(t, got.Out); len(names) != maxUnnamed || !strings.Contains(got.ErrOut, "the newest 50 of 52 Jobs") {
		t.Errorf("%d Jobs, %s", len(names), got.ErrOut)
	}
	if lists := len(o.Queries("/namespaces/ns1/jobs")); lists > maxUnnamed+1 { // one for the retries of each
		t.Errorf("%d lists of Jobs", lists)
	}
}

// Requirements: CLI-21
func TestPodIsExplainedByItsJob(t *testing.T) {
	o := clitest.NewExplained(t)
	byPod, byName := program.Run(t, o.API, "why", "pod/train-a"), program.Run(t, o.API, "why", "train", "--pod", "train-a")
	if byPod.Code != 0 || byPod.Out == "" || byPod.Out != byName.Out {
		t.Errorf("exit %d, %s%s", byPod.Code, byPod.Out, byPod.ErrOut)
	}
	if gone := program.Run(t, o.API, "why", "pod/gone"); gone.Code != cmdutil.ExitError || !strings.Contains(gone.ErrOut, `"gone" not found`) {
		t.Errorf("exit %d, %s", gone.Code, gone.ErrOut)
	}
}

// Requirements: CLI-21
func TestExitStatusIsThatOfTheJobs(t *testing.T) {
	o := clitest.NewExplained(t, clitest.CompleteJob("done"))
	stalledJob(t, o, "ns1", "stuck")
	for args, want := range map[string]int{
		"train": cmdutil.ExitJobFailed, "done": cmdutil.ExitDone, "stuck": cmdutil.ExitStalled,
		"stuck train": cmdutil.ExitJobFailed, "done stuck": cmdutil.ExitStalled, "": cmdutil.ExitJobFailed, "-n ns3": cmdutil.ExitDone,
	} {
		got := program.Run(t, o.API, append([]string{"why", "--exit-status"}, strings.Fields(args)...)...)
		if got.Code != want || strings.Contains(got.ErrOut, "error:") {
			t.Errorf("%q: exit %d, want %d; %s", args, got.Code, want, got.ErrOut)
		}
	}
	if plain := program.Run(t, o.API, "why", "train"); plain.Code != cmdutil.ExitDone {
		t.Errorf("without the flag: exit %d", plain.Code)
	}
}

// Requirements: CLI-24
func TestListIsAlwaysAList(t *testing.T) {
	o := clitest.NewExplained(t)
	got := program.Run(t, o.API, "why", "train", "-o", "json", "--list")
	names, list := jobsIn(t, got.Out)
	if strings.Join(names, " ") != "ns1/train" || len(list.Items[0].Evidence) == 0 {
		t.Errorf("%q %s", names, got.ErrOut)
	}
}

// Requirements: CLI-23, CLI-24
func TestFormatsOfKubectlForExplanations(t *testing.T) {
	o := clitest.NewExplained(t)
	for format, want := range map[string]string{
		"jsonpath={.verdict.cause.exitCode} {.verdict.cause.container} {.verdict.cause.pod}": "42 main train-a",
		"name": "job.batch/train\n",
		"go-template={{.kind}} {{.verdict.cause.exitCode}}": "JobExplanation 42",
		"jsonpath={.verdict.nonsense}":                      "",
	} {
		got := program.Run(t, o.API, "why", "train", "-o", format)
		if got.Code != 0 || got.Out != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", format, got.Code, got.Out, want, got.ErrOut)
		}
	}
	if got := program.Run(t, o.API, "why", "train", "-o", "jsonpath={"); got.Code != cmdutil.ExitUsage {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}
