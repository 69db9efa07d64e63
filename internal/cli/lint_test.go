package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
)

const (
	lintMany    = "testdata/lint/many.yaml"
	lintFine    = "testdata/lint/fine.yaml"
	lintWarning = "testdata/lint/warning.yaml"
)

// Position, severity, text, id, and fix for all that is wrong; PFN-16 to PFN-22 by way of the names.
func TestLintText_CLI_05_PFN_21(t *testing.T) {
	got := program.run(t, nil, "lint", "-f", lintMany)
	golden(t, "lint/many.golden", got.out)
	if got.code != exitError || got.errOut != "error: 11 errors, 2 warnings, 3 infos in 1 Job; 1 object of other kinds skipped\n" {
		t.Errorf("exit %d, stderr %q", got.code, got.errOut)
	}
}

func TestLintDocuments_CLI_05(t *testing.T) {
	got := program.run(t, nil, "lint", "-f", lintMany, "-o", "yaml")
	golden(t, "lint/many.yaml.golden", got.out)
	if got.code != exitError {
		t.Errorf("exit %d", got.code)
	}
	asJSON := program.run(t, nil, "lint", "-f", lintMany, "-o", "json")
	var a, b lintResult
	if err := json.Unmarshal([]byte(asJSON.out), &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(got.out), &b); err != nil {
		t.Fatal(err)
	}
	if a.Summary != b.Summary || len(a.Findings) != len(b.Findings) || a.Kind != "LintResult" || a.APIVersion != outputAPIVersion {
		t.Errorf("%+v and %+v", a, b)
	}
	if none := program.run(t, nil, "lint", "-f", lintFine, "-o", "json"); !strings.Contains(none.out, `"findings": []`) {
		t.Errorf("%s", none.out)
	}
}

func TestLintExitCodes(t *testing.T) {
	for _, c := range []struct {
		args         string
		code         int
		out, summary string
	}{
		{"-f " + lintFine, exitDone, "", "nothing to say in 1 Job\n"},
		{"-f " + lintFine + " --strict", exitDone, "", "nothing to say in 1 Job\n"},
		{"-f " + lintWarning, exitDone, "testdata/lint/warning.yaml:9:21: warning: ", "1 warning in 1 Job\n"},
		{"-f " + lintWarning + " --strict", exitError, "testdata/lint/warning.yaml:9:21: warning: ", "error: 1 warning in 1 Job\n"},
		{"-f " + lintFine + "," + lintWarning, exitDone, "testdata/lint/warning.yaml:9:21: ", "1 warning in 2 Jobs\n"},
		{"-f testdata/lint -f gone.yaml", exitError, "testdata/lint/many.yaml:", "error: the path \"gone.yaml\" does not exist\nerror: 11 errors, 3 warnings, 3 infos in 3 Jobs; 1 object of other kinds skipped\n"},
		{"-f gone.yaml", exitError, "", "error: the path \"gone.yaml\" does not exist\n"},
		{"", exitUsage, "", "error: name a file with -f, or - for standard input; see: kubectl batchjob lint --help\n"},
		{"job.yaml", exitUsage, "", `error: unexpected argument "job.yaml"; name files with -f; see: kubectl batchjob lint --help` + "\n"},
		{"-f - -f -", exitUsage, "", "error: standard input can be read only once"},
		{"-f a -o wide", exitUsage, "", `error: unknown output format "wide"; allowed are: json, yaml`},
	} {
		got := program.run(t, nil, append([]string{"lint"}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.HasPrefix(got.out, c.out) || c.out == "" && got.out != "" || !strings.HasPrefix(got.errOut, c.summary) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.args, got.code, got.out, got.errOut)
		}
	}
}

func TestLintOfWhatCannotBeRead_CLI_05(t *testing.T) {
	for _, c := range []struct {
		text, out, errOut string
	}{
		{"", "", "error: no Jobs or CronJobs in PATH; check what -f names\n"},
		{`{"a": 1, "a": "\/"}`, "PATH:1:10: error: the field \"a\" is there already, in line 1 [not-readable]", "error: 1 error\n"},
		{"a: [", "PATH:1: error: not readable as YAML: did not find expected node content [not-readable]\n    fix: correct the manifest\n", "error: 1 error\n"},
		{"\x00", "PATH: error: not a text file in UTF-8 [not-readable]\n    fix: correct the manifest\n", "error: 1 error\n"},
		{"apiVersion: batch/v1beta1\nkind: CronJob\n", "PATH:1:13: error: batch/v1beta1 is not served any more [not-readable]\n    fix: write apiVersion: batch/v1, kind: CronJob\n", "error: 1 error in 1 CronJob\n"},
		{"apiVersion: batch/v2\nkind: Job\n", "PATH:1:13: error: there is no Job in batch/v2 [not-readable]\n    fix: write apiVersion: batch/v1, kind: Job\n", "error: 1 error in 1 Job\n"},
		{"apiVersion: v1\nkind: Job\n", "PATH:1:13: error: there is no Job in v1 [not-readable]\n    fix: write apiVersion: batch/v1, kind: Job\n", "error: 1 error in 1 Job\n"},
		{"apiVersion: batch/v1\nkind: job\n", "PATH:2:7: error: there is no kind job in batch/v1 [not-readable]\n    fix: write apiVersion: batch/v1, kind: Job\n", "error: 1 error in 1 Job\n"},
		{"apiVersion: batch\nkind: cronjob\n", "PATH:2:7: error: there is no kind cronjob in batch/v1 [not-readable]\n    fix: write apiVersion: batch/v1, kind: CronJob\n", "error: 1 error in 1 CronJob\n"},
		{"apiVersion: batch/v1\nkind: CronJob\n", "PATH:1:1: error: a CronJob needs spec.jobTemplate [not-readable]\n    fix: add it, with the spec of the Jobs\n", "error: 1 error in 1 CronJob\n"},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: 2}, {name: a-b}]}}", "PATH:3:53: error: rule 1 \"a-b\"", "error: "},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: [A]}]}}", "error: the name of a rule is text, not a list [rule-name-invalid]\n    fix: write a name, such as OutOfMemory\n", "error: "},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: 2}]}}", "PATH:3:42: error: the name of a rule is text; put 2 into quotes [rule-name-invalid]\n", "error: "},
	} {
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := program.run(t, nil, "lint", "-f", path)
		out, errOut := strings.ReplaceAll(got.out, path, "PATH"), strings.ReplaceAll(got.errOut, path, "PATH")
		if got.code != exitError || !strings.Contains(out, c.out) || c.out == "" && out != "" || !strings.HasPrefix(errOut, c.errOut) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", c.text, got.code, out, errOut)
		}
	}
}

// Text of a manifest reaches the terminal only in a form that it does not obey.
func TestLintOfHostileText_CLI_05(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.yaml")
	text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: \"\\e[31m\\u202e\"}\nspec: {managedBy: \"\\e]0;x\\a\", \"\\e[2J\": 1}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := program.run(t, nil, "lint", "-f", path)
	if strings.ContainsAny(got.out+got.errOut, "\x1b\a\u202e") || !strings.Contains(got.out, `no field spec.\x1b[2J`) {
		t.Errorf("%q", got.out)
	}
	created := program.run(t, nil, "create", "-f", path, "--dry-run=client")
	if created.code != exitError || created.out != "" || strings.ContainsAny(created.errOut, "\x1b\a\u202e") || !strings.Contains(created.errOut, `no field spec.\x1b[2J`) {
		t.Errorf("%q, %q", created.out, created.errOut)
	}
}

// A folder with nothing to look at is no error; where nothing could be read, scripts still get their document.
func TestLintWithoutJobs_CLI_05(t *testing.T) {
	pod := writeManifest(t, "apiVersion: v1\nkind: Pod\n")
	const none = `{"apiVersion":"batchjob.dev/v1alpha1","findings":[],"kind":"LintResult","summary":{"errors":0,"infos":0,"jobs":0,"skipped":%d,"warnings":0}}`
	for _, c := range []struct {
		args    string
		code    int
		skipped int // in the document; -1 without one
		errOut  string
	}{
		{"-f " + pod, exitDone, -1, "nothing to say; 1 object of other kinds skipped\n"},
		{"-f " + pod + " --strict -o json", exitDone, 1, "nothing to say; 1 object of other kinds skipped\n"},
		{"-f gone.yaml -o json", exitError, 0, "error: the path \"gone.yaml\" does not exist\n"},
		{"-f - -o yaml", exitError, 0, "error: no Jobs or CronJobs in standard input; check what -f names\n"},
		{"-f -", exitError, -1, "error: no Jobs or CronJobs in standard input; check what -f names\n"},
		{"-f https://example.com/a.yaml", exitError, -1, "error: https://example.com/a.yaml: URLs are not read; fetch it first: curl -fsSL 'https://example.com/a.yaml' | kubectl batchjob lint -f -\n"},
	} {
		got := program.run(t, nil, append([]string{"lint"}, strings.Fields(c.args)...)...)
		out := ""
		if c.skipped >= 0 {
			out = fmt.Sprintf(none, c.skipped)
		}
		document, _ := yaml.YAMLToJSON([]byte(got.out))
		if text := strings.TrimPrefix(string(document), "null"); got.code != c.code || text != out || got.errOut != c.errOut {
			t.Errorf("%s: exit %d, %q, stderr %q", c.args, got.code, text, got.errOut)
		}
	}
}

// kubectl apply would take the second for a change of the first.
func TestLintOfTwins_CLI_05(t *testing.T) {
	cron := "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: '@daily', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}}\n"
	other := strings.Replace(plainJob, "{name: a}", "{name: a, namespace: x}", 1)
	generated := strings.Replace(plainJob, "{name: a}", "{generateName: a}", 1)
	path := writeManifest(t, plainJob+cron+"---\n"+other+"---\n"+generated+"---\n"+generated+"---\n"+plainJob)
	got := program.run(t, nil, "lint", "-f", path)
	want := "PATH:32:18: warning: there is a Job \"a\" already, at PATH:3:18 [object-twice]\n    fix: give each a name of its own, or remove one\n"
	if out := strings.ReplaceAll(got.out, path, "PATH"); got.code != exitDone || out != want || got.errOut != "1 warning in 5 Jobs and 1 CronJob\n" {
		t.Errorf("exit %d, %q, %q", got.code, out, got.errOut)
	}
}

// Ctrl-C ends it between two objects.
func TestLintInterrupted(t *testing.T) {
	objects, problems := manifest.Parse("f", []byte(plainJob+"---\n"+plainJob))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, _ := lintAll(ctx, objects, problems); result.Summary.Jobs != 0 {
		t.Errorf("looked at %d Jobs", result.Summary.Jobs)
	}
}

// 20,000 names are one finding, at once (PFN-29).
func TestLintOfManyNames_PFN_29(t *testing.T) {
	var rules strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&rules, "    - {name: A%d, action: Count, onExitCodes: {operator: In, values: [%d]}}\n", i, i+1)
	}
	got := program.run(t, nil, "lint", "-f", writeManifest(t, plainJob+"  podFailurePolicy:\n    rules:\n"+rules.String()))
	if got.code != exitError || strings.Count(got.out, "\n") != 2 || !strings.Contains(got.out, "20000 rules, at most 20 are allowed") {
		t.Errorf("exit %d, %.300s", got.code, got.out)
	}
}
