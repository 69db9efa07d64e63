package logs

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Requirements: CLI-08
func TestLogsAreOrderedAndPrefixed(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.RunningPod("r10", 9, 1), "nine")
	pods.WithLog(clitest.RunningPod("r2", 2, 1), "two")
	pods.WithLog(clitest.FailedPod("f7b", 7, 12), "seven again")
	pods.WithLog(clitest.FailedPod("f7a", 7, 2), "seven", "seven more")
	pods.WithLog(clitest.FailedPod("f3", 3, 1), "three")
	stranger := clitest.FailedPod("x", 3, 1)
	stranger.OwnerReferences[0].UID = "another"
	pods.WithLog(stranger, "not of this Job")
	got := program.Run(t, api, "logs", "train")
	want := "" +
		"[index 3 attempt 1]  three\n" +
		"[index 7 attempt 12] seven again\n" +
		"[index 7 attempt 2]  seven\n" +
		"[index 7 attempt 2]  seven more\n" +
		"[index 2 attempt 1]  two\n" +
		"[index 9 attempt 1]  nine\n"
	if got.Code != cmdutil.ExitDone || got.Out != want || got.ErrOut != "" {
		t.Errorf("exit %d, stderr %q, stdout:\n%s\nwant:\n%s", got.Code, got.ErrOut, got.Out, want)
	}
	for args, want := range map[string]string{
		"--failed":                          "three|seven again|seven|seven more",
		"--index 2,7-8 --tail 1":            "seven again|seven more|two",
		"--failed --index 3-9 --tail=0":     "",
		"--since-time 2026-03-01T12:00:01Z": "seven more",
		"--timestamps --index 3":            "2026-03-01T12:00:00.000000000Z three",
		"--limit-bytes 7 --index 7":         "seven a|seven|s",
		"--index 7 --max-log-requests 1":    "seven again|seven|seven more",
	} {
		got := program.Run(t, api, append([]string{"logs", "train", "--prefix=false"}, strings.Fields(args)...)...)
		if text := strings.ReplaceAll(strings.TrimSuffix(got.Out, "\n"), "\n", "|"); text != want || got.Code != cmdutil.ExitDone {
			t.Errorf("%s: exit %d, %q, want %q (%s)", args, got.Code, text, want, got.ErrOut)
		}
	}
}

func TestLogsNumberTheAttempts(t *testing.T) {
	later := func(pod *corev1.Pod, minutes int) *corev1.Pod {
		pod.CreationTimestamp = metav1.NewTime(clitest.Now().Add(time.Duration(minutes) * time.Minute))
		return pod
	}
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	counted := clitest.FailedPod("counted", 1, 0)
	counted.Annotations["batch.kubernetes.io/job-index-failure-count"] = "2"
	counted.Annotations["batch.kubernetes.io/job-index-ignored-failure-count"] = "1"
	pods.WithLog(counted, "a")
	pods.WithLog(later(clitest.FailedPod("second", 2, 0), 2), "b")
	pods.WithLog(later(clitest.FailedPod("first", 2, 0), 1), "c")
	got := program.Run(t, api, "logs", "train").Out
	if want := "[index 1 attempt 4] a\n[index 2 attempt 2] b\n[index 2 attempt 1] c\n"; got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

func TestLogsNonIndexedAndContainers(t *testing.T) {
	job := clitest.LogsJob()
	unstructured.RemoveNestedField(job.Object, "spec", "completionMode")
	_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"name": "init"}}, "spec", "template", "spec", "initContainers")
	api, pods := clitest.NewPods(t, job)
	pod := clitest.RunningPod("abcde", -1, 1)
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: clitest.Exited(0)}}
	pods.WithLog(pod, "main text")
	pods.Write("train-abcde/init", "init text")
	for args, want := range map[string]string{
		"":                       "[abcde init] init text\n[abcde main] main text\n",
		"-c main":                "[abcde] main text\n",
		"-c main,init":           "[abcde init] init text\n[abcde main] main text\n",
		"--all-containers=false": "[abcde] main text\n",
	} {
		if got := program.Run(t, api, append([]string{"logs", "job/train"}, strings.Fields(args)...)...); got.Out != want || got.ErrOut != "" {
			t.Errorf("%q: %q, stderr %q", args, got.Out, got.ErrOut)
		}
	}
	if got := program.Run(t, api, "logs", "job", "train", "-c", "main"); got.Out != "[abcde] main text\n" {
		t.Errorf("kubectl's other form: %q, %q", got.Out, got.ErrOut)
	}
	got := program.Run(t, api, "logs", "train", "-c", "nope")
	if got.Out != "" || got.Code != cmdutil.ExitError || got.ErrOut != "error: no pod of job.batch/train has a container nope; its pod template has: init, main\n" {
		t.Errorf("stdout %q, stderr %q", got.Out, got.ErrOut)
	}
	if got := program.Run(t, api, "logs", "train", "--index", "1"); got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, "--index requires an Indexed Job") {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
}

// If a container restarts after a failure (OnFailure), the failed run is the previous one.
func TestLogsFailedRunBefore(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	again := clitest.RunningPod("again", 4, 1)
	again.Status.ContainerStatuses[0].LastTerminationState = clitest.Exited(3)
	pods.WithLog(again, "second run")
	pods.Write("train-again/main/previous", "first run")
	pods.End("train-again/main/previous")
	pods.WithLog(clitest.RunningPod("well", 5, 1), "well")
	for args, want := range map[string]string{
		"":           "[index 4 attempt 1] second run\n[index 5 attempt 1] well\n",
		"--failed":   "[index 4 attempt 1 previous] first run\n",
		"--previous": "[index 4 attempt 1 previous] first run\n",
	} {
		if got := program.Run(t, api, append([]string{"logs", "train"}, strings.Fields(args)...)...); got.Out != want || got.ErrOut != "" {
			t.Errorf("%q: %q, stderr %q", args, got.Out, got.ErrOut)
		}
	}
}

// Requirements: CLI-06
func TestLogsNoteWhatIsMissing(t *testing.T) {
	job := clitest.LogsJob()
	for field, value := range map[string]any{"failed": int64(3), "completedIndexes": "0-1", "failedIndexes": "5"} {
		_ = unstructured.SetNestedField(job.Object, value, "status", field)
	}
	api, pods := clitest.NewPods(t, job)
	if got := program.Run(t, api, "logs", "train"); got.Code != cmdutil.ExitDone || got.Out != "" ||
		got.ErrOut != "3 failed pods of job.batch/train are gone, along with their logs.\njob.batch/train has no pods (Running).\n" {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
	pods.WithLog(clitest.FailedPod("f", 3, 1), "text")
	pods.Put(clitest.TrainPod("p1", 7, 1, corev1.PodPending, clitest.Waits("ImagePullBackOff", "Back-off pulling \x1b[31mimage")))
	pods.Put(clitest.TrainPod("p2", 8, 1, corev1.PodPending, clitest.Waits("ImagePullBackOff", "other")))
	unscheduled := clitest.TrainPod("u", 9, 1, corev1.PodPending, corev1.ContainerState{})
	unscheduled.Status.ContainerStatuses = nil
	unscheduled.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"}}
	pods.Put(unscheduled)
	for args, want := range map[string]string{
		"": "No log from pod train-p1, container main, which has not started: ImagePullBackOff: Back-off pulling \\x1b[31mimage (and 1 more: ImagePullBackOff)\n" +
			"No log from pod train-u, container main, which has not started: Unschedulable: 0/3 nodes\n" +
			"2 failed pods of job.batch/train are gone, along with their logs.\n",
		"--index 0-3,5": "The pods of indexes 0,1,5 of job.batch/train are gone, along with their logs.\n" +
			"The pod of index 2 of job.batch/train does not exist at the moment.\n",
		"--previous":          "No container of job.batch/train has been restarted.\n",
		"--previous --failed": "No container of a failed pod of job.batch/train has been restarted, so there is no previous log; omit --previous.\n",
	} {
		got := program.Run(t, api, append([]string{"logs", "train"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitDone || !strings.HasSuffix(got.ErrOut, want) || (!strings.HasPrefix(args, "--previous") && got.ErrOut != want) {
			t.Errorf("%q: exit %d, stderr:\n%s\nwant:\n%s", args, got.Code, got.ErrOut, want)
		}
	}
}

func TestLogsHostileText(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.FailedPod("f", 3, 1), "a\tb", "\x1b[31mred\x1b[0m \x07", "crlf\r", "over\rwritten", "bad\xff\u202e")
	pods.Locked(func() { pods.Logs["train-f/main"].Tail = "no newline" })
	got := program.Run(t, api, "logs", "train", "--prefix=false", "--color=always")
	want := "a\tb\n\\x1b[31mred\\x1b[0m \\x07\ncrlf\nover\\rwritten\nbad\\xff\\u202e\nno newline\n"
	if got.Out != want {
		t.Errorf("%q, want %q", got.Out, want)
	}
}

func TestLogPrefixesAreColoredOnATerminal(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.FailedPod("f", 3, 1), "a")
	const color, colorOff = "\x1b[94m", "\x1b[0m"
	colored, plain := color+"[index 3 attempt 1]"+colorOff+" a\n", "[index 3 attempt 1] a\n"
	for _, tc := range []struct {
		choice   string
		terminal int
		noColor  string
		want     string
	}{
		{"auto", 80, "", colored},
		{"auto", 0, "", plain},
		{"auto", 80, "0", plain},
		{"never", 80, "", plain},
		{"always", 0, "1", colored},
	} {
		t.Setenv("NO_COLOR", tc.noColor)
		env := clitest.NewEnv()
		env.Terminal = func(io.Writer) int { return tc.terminal }
		s := program.Start(t, api, env, "logs", "train", "--color", tc.choice)
		if s.End(); s.Out.String() != tc.want {
			t.Errorf("%+v: %q", tc, s.Out.String())
		}
	}
}

// Few logs are read at a time, each is printed in one piece, and no log is held in memory as a whole.
func TestLogsManyPods(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	var want strings.Builder
	const count = 1020
	for i := range count {
		pod := clitest.FailedPod(fmt.Sprintf("p%04d", i), 3, i+1)
		pods.WithLog(pod, "one", "two")
	}
	for i := count - 1; i >= 0; i-- {
		label := fmt.Sprintf("[index 3 attempt %d]", i+1)
		fmt.Fprintf(&want, "%-23sone\n%-23stwo\n", label, label)
	}
	got := program.Run(t, api, "logs", "train", "--max-log-requests", "3")
	if got.Out != want.String() {
		t.Errorf("%d lines, stderr %q, first %q", strings.Count(got.Out, "\n"), got.ErrOut, got.Out[:min(200, len(got.Out))])
	}
	if pods.Pages != 1 || pods.Most > 3 {
		t.Errorf("%d pages, %d logs at a time", pods.Pages, pods.Most)
	}
}

// Requirements: CLI-08
func TestUnreadableLogLeavesTheOthers(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.FailedPod("a", 1, 1), "a")
	pods.WithLog(clitest.FailedPod("b", 2, 1), "b")
	pods.Refuse["train-a"] = &clitest.Status{Code: 500, Reason: "InternalError", Message: "dial tcp 10.0.0.1: no \x1b route"}
	got := program.Run(t, api, "logs", "train")
	if got.Code != cmdutil.ExitError || got.Out != "[index 2 attempt 1] b\n" ||
		got.ErrOut != "Cannot read the log of pod train-a, container main: dial tcp 10.0.0.1: no \\x1b route\nerror: 1 of 2 logs could not be read\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	forbidden := &clitest.Status{Code: 403, Reason: "Forbidden", Message: `pods "x" is forbidden: User "u" cannot get resource "pods/log"`}
	pods.Refuse["train-a"], pods.Refuse["train-b"] = forbidden, forbidden
	for _, args := range []string{"logs train", "logs train -f"} {
		got = program.Run(t, api, strings.Fields(args)...)
		if got.Code != cmdutil.ExitError || cmdutil.KindOf(got.Err) != cmdutil.KindForbidden || strings.Count(got.ErrOut, "\n") != 1 ||
			!strings.Contains(got.ErrOut, "you may not get pods/log") || !strings.Contains(got.ErrOut, "kubectl auth can-i get pods --subresource=log -n ns1") {
			t.Errorf("%s: exit %d, kind %s, stderr %q", args, got.Code, cmdutil.KindOf(got.Err), got.ErrOut)
		}
	}
	if got := program.Run(t, api, "logs", "absent"); got.Code != cmdutil.ExitError || cmdutil.KindOf(got.Err) != cmdutil.KindNotFound || strings.Count(got.ErrOut, "\n") != 1 {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
}

// Requirements: CRJ-07.
func TestLogsUsage(t *testing.T) {
	api, _ := clitest.NewPods(t, clitest.LogsJob())
	program.Rejects(t, api, "logs", map[string]string{
		"":                           "name the Jobs whose logs to print, or select them with -l",
		"cronjob/x":                  `"cronjob/x" is not a Job; for a CronJob and its Jobs, use: kubectl batchjob why cronjob/x`,
		"pod/":                       "names no pod",
		"train pod/x":                "name Jobs or pods, not both",
		"train -l app=x":             "name cannot be provided when a selector is specified",
		"-l app===":                  "--selector",
		"train --index 3,x-7":        "x-7",
		"train --index 7-3":          "7-3",
		"train --index 9-12":         "10-12",
		"train --tail=-2":            "--tail",
		"train --max-log-requests=0": "--max-log-requests",
		"train --limit-bytes=-1":     "--limit-bytes",
		"train --since=-1s":          "--since",
		"train --since=x":            "--since",
		"train --since-time=now":     "--since-time",
		"train --since=1s --since-time=2026-03-01T12:00:00Z": "cannot be used together",
		"train -c main --all-containers":                     "cannot be used together",
		"train -f --previous":                                "cannot be used together",
		"train --color=red":                                  "--color",
	})
}

func TestLogsCompletion(t *testing.T) {
	job := clitest.LogsJob()
	_ = unstructured.SetNestedField(job.Object, "4,8-9", "status", "failedIndexes")
	_ = unstructured.SetNestedField(job.Object, int64(12), "spec", "completions")
	_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"name": "init"}}, "spec", "template", "spec", "initContainers")
	api, _ := clitest.NewPods(t, job, evalJob())
	for args, want := range map[string]string{
		"":                    "eval train",
		"train|":              "eval",
		"train|eval|":         "",
		"-l|app=x|":           "",
		"train|--index|":      "4 8 9 0 1 2 3 5 6 7 10 11",
		"train|--index|1":     "1 10 11",
		"train|--index|4,":    "4,8 4,9 4,5 4,6 4,7 4,10 4,11",
		"train|--index|2-8,1": "2-8,10 2-8,11",
		"absent|--index|":     "",
		"train|-c|":           "init main",
		"train|-c|init,":      "init,main",
		"train|--color|":      "auto always never",
	} {
		got := program.Run(t, api, append([]string{"__complete", "logs"}, strings.Split(args, "|")...)...)
		lines := strings.Split(strings.TrimSpace(got.Out), "\n")
		if text := strings.Join(lines[:len(lines)-1], " "); text != want {
			t.Errorf("%s: %q, want %q", args, text, want)
		}
	}
}
