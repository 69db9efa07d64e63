package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

const (
	lintMany    = "testdata/lint/many.yaml"
	lintFine    = "testdata/lint/fine.yaml"
	lintWarning = "testdata/lint/warning.yaml"
)

// Every problem has a position, severity, text, ID and fix; PFN-16 to PFN-22 are checked by way of the names.
// Requirements: CLI-05, PFN-21
func TestFindingsHavePositionAndFix(t *testing.T) {
	got := program.Run(t, nil, "lint", "-f", lintMany)
	clitest.Golden(t, "lint/many.golden", got.Out)
	if got.Code != cmdutil.ExitError || got.ErrOut != "error: 11 errors, 3 warnings, 3 infos in 1 Job; 1 object of other kinds skipped\n" {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
}

// Requirements: CLI-05
func TestFindingsAreYAMLAndJSON(t *testing.T) {
	got := program.Run(t, nil, "lint", "-f", lintMany, "-o", "yaml")
	clitest.Golden(t, "lint/many.yaml.golden", got.Out)
	assert.Equal(t, got.Code, cmdutil.ExitError)
	asJSON := program.Run(t, nil, "lint", "-f", lintMany, "-o", "json")
	var a, b lintResult
	assert.NoError(t, json.Unmarshal([]byte(asJSON.Out), &a))
	assert.NoError(t, yaml.UnmarshalStrict([]byte(got.Out), &b))
	if a.Summary != b.Summary || len(a.Findings) != len(b.Findings) || a.Kind != "LintResult" || a.APIVersion != cmdutil.OutputAPIVersion {
		t.Errorf("%+v and %+v", a, b)
	}
	assert.Contains(t, program.Run(t, nil, "lint", "-f", lintFine, "-o", "json").Out, `"findings": []`)
}

// summaryOf returns stderr without the line about unchecked problems.
func summaryOf(got clitest.Result) string { return strings.TrimSuffix(got.ErrOut, notChecked+"\n") }

func TestLintFailsForErrorsAndWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args         string
		code         int
		out, summary string
	}{
		{"-f " + lintFine, cmdutil.ExitDone, "", "no findings in 1 Job\n"},
		{"-f " + lintFine + " --strict", cmdutil.ExitDone, "", "no findings in 1 Job\n"},
		{"-f " + lintWarning, cmdutil.ExitDone, "testdata/lint/warning.yaml:9:21: warning: ", "1 warning in 1 Job\n"},
		{"-f " + lintWarning + " --strict", cmdutil.ExitError, "testdata/lint/warning.yaml:9:21: warning: ", "error: 1 warning in 1 Job\n"},
		{"-f " + lintFine + "," + lintWarning, cmdutil.ExitDone, "testdata/lint/warning.yaml:9:21: ", "1 warning in 2 Jobs\n"},
		{"-f testdata/lint -f gone.yaml", cmdutil.ExitError, "testdata/lint/many.yaml:", "error: the path \"gone.yaml\" does not exist\nerror: 11 errors, 4 warnings, 3 infos in 3 Jobs; 1 object of other kinds skipped\n"},
		{"-f gone.yaml", cmdutil.ExitError, "", "error: the path \"gone.yaml\" does not exist\n"},
		{"", cmdutil.ExitUsage, "", "error: name a file with -f, or - for standard input, or a kustomization with -k; see: kubectl batchjob lint --help\n"},
		{"job.yaml", cmdutil.ExitUsage, "", `error: unexpected argument "job.yaml"; name files with -f; see: kubectl batchjob lint --help` + "\n"},
		{"-f - -f -", cmdutil.ExitUsage, "", "error: standard input can be read only once"},
		{"-f a -o wide", cmdutil.ExitUsage, "", `error: unknown output format "wide"; must be one of: json, yaml`},
	} {
		got := program.Run(t, nil, append([]string{"lint"}, strings.Fields(c.args)...)...)
		if got.Code != c.code || !strings.HasPrefix(got.Out, c.out) || c.out == "" && got.Out != "" || !strings.HasPrefix(got.ErrOut, c.summary) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.args, got.Code, got.Out, got.ErrOut)
		}
	}
}

// Requirements: CLI-05
func TestUnreadableManifestsAreReported(t *testing.T) {
	for _, c := range []struct {
		text, out, errOut string
	}{
		{"", "", "error: no Jobs, CronJobs or JobSets in PATH; check the files given with -f\n"},
		{`{"a": 1, "a": "\/"}`, "PATH:1:10: error: duplicate field \"a\", first used in line 1 [field-twice]\n    fix: remove one of them\n", "error: 2 errors\n"},
		{"a: [", "PATH:1:4: error: not readable as YAML: \"[\" is not closed [not-readable]\n    fix: add ]\n", "error: 1 error\n"},
		{"{\"apiVersion\": \"batch/v1\",\n \"kind\": \"Job\",,}", "PATH:2:16: error: not readable as JSON: there are two commas [not-readable]\n", "error: 1 error\n"},
		{"\x00", "PATH: error: not a text file in UTF-8 [not-readable]\n", "error: 1 error\n"},
		{"apiVersion: batch/v1\nkind: CronJob\n", "PATH:1:1: error: CronJob: a CronJob needs spec.jobTemplate [not-readable]\n    fix: add it, with the spec of the Jobs\n", "error: 1 error in 1 CronJob\n"},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: 2}, {name: a-b}]}}", "PATH:3:53: error: Job: rule 1 \"a-b\"", "error: "},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: [A]}]}}", "error: Job: the name of a rule is text, not a list [rule-name-invalid]\n    fix: use a name such as OutOfMemory\n", "error: "},
		{"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: 2}]}}", "PATH:3:42: error: Job: the name of a rule is text; quote 2 [rule-name-invalid]\n", "error: "},
	} {
		got := linted(t, c.text)
		if got.Code != cmdutil.ExitError || !strings.Contains(got.Out, c.out) || c.out == "" && got.Out != "" || !strings.HasPrefix(got.ErrOut, c.errOut) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", c.text, got.Code, got.Out, got.ErrOut)
		}
	}
}

// A wrong API version or kind is one error, and the rest is checked as if they were correct.
// Requirements: LNT-09
func TestTheRestIsCheckedBesideAWrongVersion(t *testing.T) {
	const head = "apiVersion: batch/v1\nkind: Job\n"
	for head, want := range map[string]string{
		"apiVersion: batch/v1beta1\nkind: Job\n":             "PATH:1:13: error: Job/a: batch/v1beta1 is no longer served [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: batch/v2alpha1\nkind: Job\n":            "PATH:1:13: error: Job/a: batch/v2alpha1 is no longer served [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: batch/v2\nkind: Job\n":                  "PATH:1:13: error: Job/a: there is no Job in batch/v2 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: apps/v1\nkind: Job\n":                   "PATH:1:13: error: Job/a: there is no Job in apps/v1 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: extensions/v1beta1\nkind: Job\n":        "PATH:1:13: error: Job/a: there is no Job in extensions/v1beta1 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: v1\nkind: Job\n":                        "PATH:1:13: error: Job/a: there is no Job in v1 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: batch/v1\nkind: job\n":                  "PATH:2:7: error: job/a: there is no kind job in batch/v1 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: batch\nkind: job\n":                     "PATH:2:7: error: job/a: there is no kind job in batch/v1 [api-version-wrong]\n    fix: write apiVersion: batch/v1, kind: Job\n",
		"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n": "",
	} {
		path := clitest.WriteManifest(t, strings.Replace(clitest.PlainJob+"  backoffLimit: -1\n", "apiVersion: batch/v1\nkind: Job\n", head, 1))
		got := program.Run(t, nil, "lint", "-f", path)
		if _, kind, _ := strings.Cut(strings.TrimSpace(head), "kind: "); want != "" {
			want += "PATH:6:17: error: " + kind + "/a: backoffLimit is -1 [negative]\n    fix: use 0 or more\n"
		}
		assert.Equal(t, strings.ReplaceAll(got.Out, path, "PATH"), want, head)
		created := program.Run(t, nil, "create", "-f", path, "--dry-run=client")
		if created.Code != cmdutil.ExitError || want != "" && !strings.Contains(created.ErrOut, "; write apiVersion: batch/v1, kind: Job\n") {
			t.Errorf("%q: create: exit %d, %s", head, created.Code, created.ErrOut)
		}
	}
	if !strings.HasPrefix(strings.TrimSpace(clitest.PlainJob), strings.TrimSpace(head)) {
		t.Errorf("%s", clitest.PlainJob)
	}
}

// A template is one finding, whether it can be read or not; a manifest with text similar to a template action is not
// a finding.
// Requirements: LNT-08
func TestATemplateIsOneFinding(t *testing.T) {
	named := func(name string) string { return strings.Replace(clitest.PlainJob, "{name: a}", "{name: "+name+"}", 1) }
	const helm, other = "helm template CHART | kubectl batchjob lint -f -\n", "render it first, and pass the result: kubectl batchjob lint -f -\n"
	for name, c := range map[string]struct{ text, out string }{
		"Helm":        {"{{- if .Values.on }}\n" + named(`{{ include "a.name" . }}`) + "{{- end }}\n", "PATH:1:1: error: this is a Helm template, not a manifest [template]\n    fix: render it first: " + helm},
		"Helm, value": {named(`{{ .Release.Name }}`) + "---\n" + named("{{ .Values.b }}"), "PATH:3:18: error: this is a Helm template, not a manifest [template]\n    fix: render it first: " + helm},
		"in quotes":   {named(`"{{ .Release.Name }}"`) + "  backoffLimit: -1\n", "PATH:3:18: error: Job/{{ .Release.Name }}: this is a Helm template, not a manifest [template]\n    fix: render it first: " + helm},
		"Go":          {named("{{ .Name }}"), "PATH:3:18: error: this is a Go template, not a manifest [template]\n    fix: " + other},
		"Jinja":       {"{% for a in all %}\n" + named("{{ a }}") + "{% endfor %}\n", "PATH:1:1: error: this is a Jinja template, not a manifest [template]\n    fix: " + other},
		"ERB":         {"<% if on %>\n" + named("<%= name %>") + "<% end %>\n", "PATH:1:1: error: this is an ERB template, not a manifest [template]\n    fix: " + other},
		"Terraform":   {"%{ if on }\n" + named("a") + "%{ endif }\n", "PATH:1:1: error: this is a Terraform template, not a manifest [template]\n    fix: " + other},
		"an argument": {strings.Replace(clitest.PlainJob, "name: main,", `name: main, args: ["{{ .State }}"],`, 1), ""},
		"an argument, and a mistake": {
			strings.Replace(clitest.PlainJob, "name: main,", `name: main, args: ["{{ .State }}"],`, 1) + " backoffLimit: 1\n",
			"PATH:6:2: error: not readable as YAML: this line is indented by 1 space, 1 less than the lines that it belongs to [not-readable]\n    fix: indent it by 2 spaces\n",
		},
	} {
		assert.Equal(t, linted(t, c.text).Out, c.out, name, c.text)
	}
}

// The chart is the parent of the template's folder.
// Requirements: LNT-08
func TestTheChartOfATemplateIsNamed(t *testing.T) {
	root := folder(t, map[string]string{"chart/templates/job.yaml": "{{ .Values.job }}\n"})
	assert.Contains(t, program.Run(t, nil, "lint", "-R", "-f", root).Out, "helm template "+root+"/chart | kubectl batchjob lint -f -")
}

// jobSet is clitest.JobSet for a controller that supports the names of its rules.
var jobSet = strings.Replace(clitest.JobSet, "values: [2]}}]}\n", "values: [2]}}]}\n        managedBy: batchjob.dev/controller\n", 1)

// The templates of a JobSet are checked like the Jobs that it creates (issue 17).
// Requirements: CLI-05
func TestJobSetsAreChecked(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, c := range []struct{ text, out, errOut string }{
		{jobSet, "", "no findings in 1 JobSet\n"},
		{strings.Replace(jobSet, "v1alpha2", "v1", 1), "", "no findings in 1 JobSet\n"},
		{strings.Replace(jobSet, "backoffLimit: 0\n", "backofLimit: 0\n", 1), "PATH:14:22: error: JobSet/train: batch/v1 has no field spec.replicatedJobs[1].template.spec.backofLimit, did you mean backoffLimit [unknown-field]\n    fix: write backoffLimit, or remove it\n", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "parallelism: 2", "parallelism: two", 1), "PATH:13:22: error: JobSet/train: spec.replicatedJobs[1].template.spec.parallelism is the text \"two\", but the API expects an integer", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "values: [2]", "values: [0]", 1), "PATH:15:", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "name: Broken", "name: a-b", 1), "PATH:15:43: error: JobSet/train: rule 0 \"a-b\"", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "restartPolicy: Never", "restartPolicy: OnFailure", 1), "PATH:17:42: error: JobSet/train: podFailurePolicy needs restartPolicy Never", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "{name: train}", "{}", 1), "PATH:3:1: error: JobSet: the object has no name [name-missing]\n    fix: add metadata.name or metadata.generateName\n", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "train", long+"xx", 1), "PATH:3:18: error: JobSet/" + long + "xx: the pod of the last index cannot have the host name \"" + long + "xx-workers-3-1\"", "error: 1 error in 1 JobSet\n"},
		{strings.Replace(jobSet, "train", long+"xxxx", 1), "PATH:3:18: error: JobSet/" + long + "xxxx: the pod of the last index cannot have the host name \"" + long + "xxxx-driver-0-0\"", "error: 3 errors in 1 JobSet\n"},
		{jobSet + "---\n" + jobSet, "PATH:21:18: warning: JobSet/train: the JobSet is already defined at PATH:3:18", "1 warning in 2 JobSets\n"},
		{"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: 3}\n", "PATH:4:24: error: JobSet/a: spec.replicatedJobs has no templates [not-readable]\n", "error: 1 error in 1 JobSet\n"},
		{"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: [{name: b, template: 3}, 4]}\n", "PATH:4:45: error: JobSet/a: the template has no containers", "error: 2 errors in 1 JobSet"},
		{"apiVersion: jobset.x-k8s.io/v2\nkind: JobSet\n", "PATH:1:13: error: JobSet: there is no JobSet in jobset.x-k8s.io/v2 [api-version-wrong]\n    fix: write apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet\n", "error: 1 error in 1 JobSet\n"},
		{"apiVersion: example.com/v1\nkind: JobSet\n", "", "no findings; 1 object of other kinds skipped\n"},
	} {
		got := linted(t, c.text)
		if !strings.HasPrefix(got.Out, c.out) || c.out == "" && got.Out != "" || !strings.HasPrefix(got.ErrOut, c.errOut) {
			t.Errorf("%s\nexit %d, stdout %q\nstderr %q\nwant %q\n%q", c.text, got.Code, got.Out, got.ErrOut, c.out, c.errOut)
		}
	}
}

// JobSet adds the volumes of its volumeClaimPolicies to the pods.
// Requirements: LNT-01
func TestVolumesOfAJobSetMayBeMounted(t *testing.T) {
	mount := strings.Replace(jobSet, "name: main,", "name: main, volumeMounts: [{name: data, mountPath: /data}],", 1)
	if mount == jobSet {
		t.Fatalf("no container main in %s", mount)
	}
	claimed := strings.Replace(mount, "spec:\n", "spec:\n  volumeClaimPolicies: [{templates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]}]\n", 1)
	for _, c := range []struct{ text, errOut string }{{mount, "error: 1 error in 1 JobSet\n"}, {claimed, "no findings in 1 JobSet\n"}} {
		if got := linted(t, c.text); summaryOf(got) != c.errOut {
			t.Errorf("%s\n%s%s", c.text, got.Out, got.ErrOut)
		}
	}
}

// Control characters in a manifest are escaped before they reach the terminal.
// Requirements: CLI-05
func TestHostileManifestIsSafeOnATerminal(t *testing.T) {
	text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: \"\\e[31m\\u202e\"}\nspec: {managedBy: \"\\e]0;x\\a\", \"\\e[2J\": 1}\n"
	path := clitest.WriteManifest(t, text)
	got := program.Run(t, nil, "lint", "-f", path)
	if strings.ContainsAny(got.Out+got.ErrOut, "\x1b\a\u202e") || !strings.Contains(got.Out, `no field spec.\x1b[2J`) {
		t.Errorf("%q", got.Out)
	}
	created := program.Run(t, nil, "create", "-f", path, "--dry-run=client")
	if created.Code != cmdutil.ExitError || created.Out != "" || strings.ContainsAny(created.ErrOut, "\x1b\a\u202e") || !strings.Contains(created.ErrOut, `no field spec.\x1b[2J`) {
		t.Errorf("%q, %q", created.Out, created.ErrOut)
	}
}

// A folder with nothing to check is not an error; if nothing can be read, scripts still get their document.
// Requirements: CLI-05
func TestFolderWithoutJobsIsNoError(t *testing.T) {
	pod := clitest.WriteManifest(t, "apiVersion: v1\nkind: Pod\n")
	const none = `{"apiVersion":"batchjob.dev/v1alpha1","findings":[],"kind":"LintResult","summary":{"errors":0,"ignored":0,"infos":0,"jobs":0,"patches":0,"skipped":%d,"warnings":0}}`
	for _, c := range []struct {
		args    string
		code    int
		skipped int // number in the document; -1 without a document
		errOut  string
	}{
		{"-f " + pod, cmdutil.ExitDone, -1, "no findings; 1 object of other kinds skipped\n"},
		{"-f " + pod + " --strict -o json", cmdutil.ExitDone, 1, "no findings; 1 object of other kinds skipped\n"},
		{"-f gone.yaml -o json", cmdutil.ExitError, 0, "error: the path \"gone.yaml\" does not exist\n"},
		{"-f - -o yaml", cmdutil.ExitError, 0, "error: no Jobs, CronJobs or JobSets in standard input; check the files given with -f\n"},
		{"-f -", cmdutil.ExitError, -1, "error: no Jobs, CronJobs or JobSets in standard input; check the files given with -f\n"},
		{"-f https://example.com/a.yaml", cmdutil.ExitError, -1, "error: https://example.com/a.yaml: URLs are not supported; fetch it first: curl -fsSL 'https://example.com/a.yaml' | kubectl batchjob lint -f -\n"},
	} {
		got := program.Run(t, nil, append([]string{"lint"}, strings.Fields(c.args)...)...)
		out := ""
		if c.skipped >= 0 {
			out = fmt.Sprintf(none, c.skipped)
		}
		document, _ := yaml.YAMLToJSON([]byte(got.Out))
		if text := strings.TrimPrefix(string(document), "null"); got.Code != c.code || text != out || summaryOf(got) != c.errOut {
			t.Errorf("%s: exit %d, %q, stderr %q", c.args, got.Code, text, got.ErrOut)
		}
	}
}

// kubectl apply would treat the second one as an update of the first.
// Requirements: CLI-05
func TestTwoJobsOfOneNameAreReported(t *testing.T) {
	cron := "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: '@daily', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}}\n"
	other := strings.Replace(clitest.PlainJob, "{name: a}", "{name: a, namespace: x}", 1)
	generated := strings.Replace(clitest.PlainJob, "{name: a}", "{generateName: a}", 1)
	got := linted(t, clitest.PlainJob+cron+"---\n"+other+"---\n"+generated+"---\n"+generated+"---\n"+clitest.PlainJob)
	want := "PATH:32:18: warning: Job/a: the Job is already defined at PATH:3:18 [object-twice]\n    fix: give each a unique name, or remove one\n"
	got.Is(t, cmdutil.ExitDone, want, "1 warning in 5 Jobs and 1 CronJob\n"+notChecked+"\n")
}

// Ctrl-C ends lint between two objects.
func TestLintIsInterrupted(t *testing.T) {
	objects, problems := manifest.Parse("f", []byte(clitest.PlainJob+"---\n"+clitest.PlainJob))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, _ := (&Options{}).lintAll(ctx, objects, problems, nil); result.Summary.Jobs != 0 {
		t.Errorf("looked at %d Jobs", result.Summary.Jobs)
	}
}

// 20,000 names give one finding, immediately (PFN-29).
func TestManyNamesAreOneFinding(t *testing.T) {
	var rules strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&rules, "    - {name: A%d, action: Count, onExitCodes: {operator: In, values: [%d]}}\n", i, i+1)
	}
	got := linted(t, clitest.PlainJob+"  podFailurePolicy:\n    rules:\n"+rules.String())
	if got.Code != cmdutil.ExitError || strings.Count(got.Out, "\n") != 2 || !strings.Contains(got.Out, "20000 rules, but at most 20 are allowed") {
		t.Errorf("exit %d, %.300s", got.Code, got.Out)
	}
}

// An object with too many findings to report is an error, even if those reported are warnings.
// Requirements: LNT-06
func TestTooManyFindingsAreAnError(t *testing.T) {
	var labels strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&labels, "    a%d: ${A}\n", i)
	}
	text := strings.Replace(clitest.PlainJob, "metadata: {name: a}\n", "metadata:\n  name: a\n  annotations: {}\n  labels:\n"+labels.String(), 1)
	got := linted(t, text)
	if got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, "; 1 object has too many findings to report all of them, fix these first") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}
