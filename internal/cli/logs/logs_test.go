package logs

import (
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func TestLogsHostileText(t *testing.T) {
	api, pods := clitest.NewPods(t, clitest.LogsJob())
	pods.WithLog(clitest.FailedPod("f", 3, 1), "a\tb", "\x1b[31mred\x1b[0m \x07", "crlf\r", "over\rwritten", "bad\xff\u202e")
	pods.Locked(func() { pods.Logs["train-f/main"].Tail = "no newline" })
	got := program.Run(t, api, "logs", "train", "--prefix=false", "--color=always")
	want := "a\tb\nred \\x07\ncrlf\nover\\rwritten\nbad\\xff\\u202e\nno newline\n"
	assert.Equal(t, got.Out, want)
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
	program.Completes(t, api, map[string]string{
		"logs|":                    "eval train :4",
		"logs|train|":              "eval :4",
		"logs|train|eval|":         " :4",
		"logs|-l|app=x|":           " :4",
		"logs|train|--index|":      "4 8 9 0 1 2 3 5 6 7 10 11 :36",
		"logs|train|--index|1":     "1 10 11 :36",
		"logs|train|--index|4,":    "4,8 4,9 4,5 4,6 4,7 4,10 4,11 :36",
		"logs|train|--index|2-8,1": "2-8,10 2-8,11 :36",
		"logs|absent|--index|":     " :36",
		"logs|train|-c|":           "init main :4",
		"logs|train|-c|init,":      "init,main :4",
		"logs|train|--color|":      "auto always never :4",
	})
}
