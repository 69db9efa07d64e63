package explain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// CLI-04: the explanation has the rule, pod, container, exit code and the last lines of the log; the aliases of the
// verb print the same.
func TestExplanationShowsRulePodAndLog(t *testing.T) {
	o := clitest.NewExplained(t)
	first := program.Run(t, o.API, "why", "train", "--full")
	if first.Code != 0 || first.ErrOut != "" {
		t.Fatalf("exit %d, stderr %q", first.Code, first.ErrOut)
	}
	for _, part := range []string{`rule 0 "Corrupt"`, "train-a", "container main", "exit code 42", "table is corrupt", "bad checksum", "NodeHasTrouble"} {
		if !strings.Contains(first.Out, part) {
			t.Errorf("it does not say %q:\n%s", part, first.Out)
		}
	}
	for _, verb := range []string{"explain", "why"} {
		if got := program.Run(t, o.API, verb, "job/train", "--full"); got.Out != first.Out {
			t.Errorf("%s says something else:\n%s", verb, got.Out)
		}
	}
	short := program.Run(t, o.API, "why", "train")
	if strings.Contains(short.Out, "Timeline") || strings.Index(short.Out, "table is corrupt") > strings.Index(short.Out, `rule 0 "Corrupt"`) {
		t.Errorf("without --full:\n%s", short.Out)
	}
	if quiet := program.Run(t, o.API, "why", "train", "--log-lines=0"); strings.Contains(quiet.Out, "bad checksum") {
		t.Errorf("--log-lines=0:\n%s", quiet.Out)
	}
	if one := program.Run(t, o.API, "why", "train", "--log-lines=1"); strings.Contains(one.Out, "reading\n") || !strings.Contains(one.Out, "bad checksum") {
		t.Errorf("--log-lines=1:\n%s", one.Out)
	}
	if used := o.Methods(); len(used) != 1 || !used[http.MethodGet] {
		t.Errorf("it writes: %v", used)
	}
}

// Wrong usage gives exit code 2 and one line that says what to do, without a request.
// Requirements: CLI-04
func TestWrongUsageSendsNoRequest(t *testing.T) {
	for _, tc := range []struct{ args, text string }{
		{"a -A", "across all namespaces"},
		{"a -l x=y", "selector"},
		{"-l x==!", "--selector"},
		{"a -o wide", `"wide"`},
		{"a -o json=", "unknown output format"},
		{"a --log-lines -1", "--log-lines"},
		{"a --log-lines x", "--log-lines"},
		{"a --pod p --index 1", "cannot be used together"},
		{"a b --pod p", "require a single named Job"},
		{"-l x=y --index 1", "require a single named Job"},
		{"cronjob/x --index 1", "require a single named Job"},
		{"a --index x", "--index=x"},
		{"a --index -1", "--index=-1"},
		{"a --index 1,", "--index=1,"},
		{"a --index 99999999999", "--index=99999999999"},
		{"a --color sometimes", "--color"},
		{"pod/a b", "name one pod"},
		{"pod/a pod/b", "name one pod"},
		{"pod/a --pod b", "name one pod"},
		{"pod/", "names no pod"},
		{"a --list", "--list requires -o"},
		{"secret/a", `"secret/a" is not a Job`},
		{"job/", "no Job name"},
		{"cronjob/", "names no CronJob"},
		{"jobset/a/b", "names no JobSet"},
		{"a/../b", ""},
		{"a --nonsense", "--nonsense"},
	} {
		api := clitest.NewAPI(t)
		api.SetRefuse(func(r *http.Request) *clitest.Status {
			t.Errorf("%s: %s %s", tc.args, r.Method, r.URL)
			return nil
		})
		got := program.Run(t, api, append([]string{"why"}, strings.Fields(tc.args)...)...)
		if got.Code != cmdutil.ExitUsage || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, tc.text) || !strings.Contains(got.ErrOut, "--help") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tc.args, got.Code, got.Out, got.ErrOut)
		}
	}
}

// Usage errors are reported before all others.
// Requirements: CLI-04
func TestExplainUsageComesFirst(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if got := program.Run(t, nil, "why", "a", "--index", "x"); got.Code != cmdutil.ExitUsage {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}

// JSON and YAML contain the values as stored in the cluster; text for a terminal is escaped.
// Requirements: CLI-04
func TestHostileTextIsSafeOnATerminal(t *testing.T) {
	o := clitest.NewExplained(t)
	hostile := "\x1b[2J\u202eevil\r"
	o.Pods.Put(clitest.EndedPod(clitest.ExplainedJob("ns1", "train"), "train-a", 42, hostile))
	o.Pods.Write("train-a/main", "\x1b]0;title\x07")
	for _, format := range []string{"json", "yaml"} {
		got := program.Run(t, o.API, "why", "train", "-o", format)
		data, err := yaml.YAMLToJSON([]byte(got.Out))
		if err != nil || got.Code != 0 {
			t.Fatalf("%s: exit %d, %v", format, got.Code, err)
		}
		var r explain.Report
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind != "JobExplanation" || r.APIVersion != "batchjob.dev/v1alpha1" || r.Verdict.RuleName != "Corrupt" || *r.Verdict.Rule != 0 {
			t.Errorf("%s: %s %s %+v", format, r.APIVersion, r.Kind, r.Verdict)
		}
		var lines []string
		for _, e := range r.Evidence {
			lines = append(lines, e.Lines...)
		}
		if !slices.Contains(lines, "\x1b]0;title\x07") || r.Causes[0].Message != strings.TrimSpace(hostile) {
			t.Errorf("%s: %q, %q", format, lines, r.Causes[0].Message)
		}
	}
	for _, args := range []string{"why train", "why -l app=train", "status train"} {
		got := program.Run(t, o.API, strings.Fields(args)...)
		if strings.ContainsAny(got.Out, "\x1b\x07\r\u202e") || !strings.Contains(got.Out, `\x1b`) && !strings.HasPrefix(args, "status") {
			t.Errorf("%s: %q", args, got.Out)
		}
	}
}

// --pod and --index narrow the explanation, and reject pods and indexes that the Job does not have.
// Requirements: CLI-04
func TestPodAndIndexNarrowTheAnswer(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	indexed := clitest.SimpleJob("ns1", "indexed", 0)
	indexed.Object["spec"] = map[string]any{"completions": int64(4), "parallelism": int64(2), "completionMode": "Indexed"}
	o := clitest.NewExplained(t, indexed)
	o.Pods.Put(clitest.EndedPod(train, "train-b", 7, "something else"))
	for i := range 3 {
		pod := clitest.EndedPod(indexed, fmt.Sprintf("indexed-%d-x", i), int32(10+i), "")
		pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(i)}
		o.Pods.Put(pod)
	}
	got := program.Run(t, o.API, "why", "train", "--pod", "train-b")
	if got.Code != 0 || !strings.Contains(got.Out, "something else") || strings.Contains(got.Out, "table is corrupt") { // That is another pod's.
		t.Errorf("--pod: exit %d, %s", got.Code, got.Out)
	}
	got = program.Run(t, o.API, "why", "indexed", "--index", "1")
	if !strings.HasPrefix(got.Out, "! index 1 of indexed waits for its next pod after 1 failure: container main exited with code 11") || strings.Contains(got.Out, "code 10") || strings.Contains(got.Out, "code 12") {
		t.Errorf("--index: exit %d, %s", got.Code, got.Out)
	}
	got = program.Run(t, o.API, "why", "indexed", "--indexes", "0,2-3")
	if got.Code != 0 || !strings.Contains(got.Out, "code 10") || strings.Contains(got.Out, "code 11") || !strings.Contains(got.Out, "code 12") {
		t.Errorf("several indexes: exit %d, %s", got.Code, got.Out)
	}
	for _, tc := range []struct {
		args, text string
		code       int
	}{
		{"indexed --index 2-4", "--index=2-4: job.batch/indexed has the indexes 0-3", cmdutil.ExitUsage},
		{"train --index 1", "--index requires an Indexed Job, and job.batch/train is not one", cmdutil.ExitUsage},
		{"indexed --index 4", "job.batch/indexed has the indexes 0-3", cmdutil.ExitUsage},
		{"train --pod indexed-0-x", `job.batch/train has no pod "indexed-0-x"`, cmdutil.ExitError},
	} {
		got := program.Run(t, o.API, append([]string{"why"}, strings.Fields(tc.args)...)...)
		if got.Code != tc.code || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, tc.text) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tc.args, got.Code, got.Out, got.ErrOut)
		}
	}
	o.RefusePath("/pods", 403, "Forbidden")
	if got := program.Run(t, o.API, "why", "train", "--pod", "train-b"); got.Code != 0 || !strings.Contains(got.Out, "no permission to list pods") {
		t.Errorf("without the permission to read pods: exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}

// CLI-08: without one of the permissions, the rest is explained, with a notice and a command.
func TestMissingPermissionsLeaveTheRest(t *testing.T) {
	for _, tc := range []struct {
		path, command string
		missing       []string
	}{
		{"/pods", "kubectl auth can-i list pods\n", []string{"bad checksum", "table is corrupt", "is gone"}},
		{"/events", "kubectl auth can-i list events\n", []string{"NodeHasTrouble"}},
		{"/log", "kubectl auth can-i get pods --subresource=log\n", []string{"bad checksum"}},
		{"/leases", "", nil},
	} {
		o := clitest.NewExplained(t)
		o.RefusePath(tc.path, 403, "Forbidden")
		got := program.Run(t, o.API, "why", "train", "--full")
		if got.Code != 0 || !strings.Contains(got.Out, `rule 0 "Corrupt"`) || !strings.Contains(got.Out, "code 42") || !strings.Contains(got.Out, tc.command) {
			t.Errorf("%s: exit %d, stderr %q, stdout:\n%s", tc.path, got.Code, got.ErrOut, got.Out)
		}
		for _, part := range tc.missing {
			if strings.Contains(got.Out, part) {
				t.Errorf("%s: it says %q:\n%s", tc.path, part, got.Out)
			}
		}
		if tc.command == "" && strings.Contains(got.Out, "can-i") {
			t.Errorf("%s is not silent:\n%s", tc.path, got.Out)
		}
		if short := program.Run(t, o.API, "why", "train"); strings.Contains(short.Out, "no permission to ") != (tc.command != "") {
			t.Errorf("%s: the short explanation does not say which permission is missing:\n%s", tc.path, short.Out)
		}
		if status := program.Run(t, o.API, "status", "train"); status.Code != 0 || !strings.Contains(status.Out, "Failed") {
			t.Errorf("%s: status: exit %d, %s", tc.path, status.Code, status.ErrOut)
		}
	}
	o := clitest.NewExplained(t)
	o.RefusePath("/jobs/train", 403, "Forbidden")
	for _, args := range []string{"why train", "status train"} {
		got := program.Run(t, o.API, strings.Fields(args)...)
		if got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, "you may not get jobs") {
			t.Errorf("%s: exit %d, %q, %q", args, got.Code, got.Out, got.ErrOut)
		}
	}
}
