package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	lintMany    = "testdata/lint/many.yaml"
	lintFine    = "testdata/lint/fine.yaml"
	lintWarning = "testdata/lint/warning.yaml"
)

// Position, severity, text, id, and fix for all that is wrong; PFN-16 to PFN-22 by way of the names.
func TestLintText_CLI_05_PFN_21(t *testing.T) {
	got := run(t, nil, "lint", "-f", lintMany)
	golden(t, "lint/many.golden", got.out)
	if got.code != exitError || got.errOut != "error: 11 errors, 2 warnings, 3 infos in 1 Job; 1 object of other kinds skipped\n" {
		t.Errorf("exit %d, stderr %q", got.code, got.errOut)
	}
}

func TestLintDocuments_CLI_05(t *testing.T) {
	got := run(t, nil, "lint", "-f", lintMany, "-o", "yaml")
	golden(t, "lint/many.yaml.golden", got.out)
	if got.code != exitError {
		t.Errorf("exit %d", got.code)
	}
	asJSON := run(t, nil, "lint", "-f", lintMany, "-o", "json")
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
	if none := run(t, nil, "lint", "-f", lintFine, "-o", "json"); !strings.Contains(none.out, `"findings": []`) {
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
		got := run(t, nil, append([]string{"lint"}, strings.Fields(c.args)...)...)
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
		{"a: [", "PATH:1: error: not readable as YAML: did not find expected node content [not-readable]\n    fix: correct the manifest\n", "error: 1 error\n"},
		{"\x00", "PATH: error: not a text file in UTF-8 [not-readable]\n    fix: correct the manifest\n", "error: 1 error\n"},
		{"apiVersion: v1\nkind: Pod\n", "", "error: no Jobs or CronJobs in PATH; check what -f names\n"},
		{"apiVersion: batch/v1beta1\nkind: CronJob\n", "PATH:1:13: error: batch/v1beta1 is not served any more; write batch/v1 [not-readable]\n    fix: correct the manifest\n", "error: 1 error in 1 Job\n"},
		{"apiVersion: batch/v1\nkind: CronJob\n", "PATH:1:1: error: a CronJob needs spec.jobTemplate [not-readable]\n    fix: correct the manifest\n", "error: 1 error in 1 Job\n"},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: 2}]}}", "PATH:3:42: error: the name of a rule is text; put 2 into quotes [rule-name-invalid]\n", "error: "},
	} {
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := run(t, nil, "lint", "-f", path)
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
	got := run(t, nil, "lint", "-f", path)
	if strings.ContainsAny(got.out+got.errOut, "\x1b\a\u202e") || !strings.Contains(got.out, `no field spec.\x1b[2J`) {
		t.Errorf("%q", got.out)
	}
	created := run(t, nil, "create", "-f", path, "--dry-run=client")
	if created.out != "job.batch/\\x1b[31m\\u202e created (dry run)\n" {
		t.Errorf("%q, %q", created.out, created.errOut)
	}
}
