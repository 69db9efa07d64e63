package simulate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

const stories = "../../../examples/stories/"

// simulated returns the report on a simulation of the Job in a file.
func simulated(t *testing.T, args ...string) explain.Report {
	t.Helper()
	got := program.Run(t, nil, append([]string{"simulate", "-o", "json", "-f"}, args...)...)
	if got.Code != 0 {
		t.Fatalf("%v: exit %d, %s", args, got.Code, got.ErrOut)
	}
	var r explain.Report
	assert.NoError(t, json.Unmarshal([]byte(got.Out), &r))
	return r
}

// A policy can be tried without a cluster: PFN-30, PFP-05, BLI-17, and SUC-03 as in the stories of their KEPs.
func TestPoliciesAreTriedWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	named := stories + "kep-4443-story-1-the-reason-names-the-exit-code.yaml"
	perIndex := stories + "kep-3850-story-1-one-retry-per-suite.yaml"
	for _, tc := range []struct {
		name, reason string
		outcome      reconcile.Outcome
		args         []string
	}{
		{"nothing fails", "CompletionsReached", reconcile.OutcomeComplete, []string{named}},
		{"the rule matches", "PodFailurePolicy_ExitCode2", reconcile.OutcomeFailed, []string{named, "--pods", "exit=2"}},
		{"it does not", "BackoffLimitExceeded", reconcile.OutcomeFailed, []string{named, "--pods", "exit=3"}},
		{"one index", "FailedIndexes", reconcile.OutcomeFailed, []string{perIndex, "--pods", "index=3,exit=1"}},
		{"its first attempt", "CompletionsReached", reconcile.OutcomeComplete, []string{perIndex, "--pods", "index=3-5,attempt=1,exit=1"}},
		{"a disruption", "CompletionsReached", reconcile.OutcomeComplete, []string{stories + "kep-3329-story-2-disruptions-do-not-count.yaml", "--pods", "attempt=1,disrupted"}},
		{"the leader", "SuccessPolicy", reconcile.OutcomeComplete, []string{stories + "kep-3998-story-1-the-leader-decides.yaml", "--pods", "run=1h", "--pods", "index=0,run=1s"}},
	} {
		r := simulated(t, tc.args...)
		if r.Verdict.Reason != tc.reason || r.Verdict.Outcome != tc.outcome {
			t.Errorf("%s: %s %q, want %s %q", tc.name, r.Verdict.Outcome, r.Verdict.Reason, tc.outcome, tc.reason)
		}
		if tc.name == "one index" && r.Indexes.Failed != "3" {
			t.Errorf("%s: indexes %s failed", tc.name, r.Indexes.Failed)
		}
		if len(r.Advice) > 0 {
			t.Errorf("%s: commands for pods that are nowhere: %v", tc.name, r.Advice)
		}
	}
}

// A flag without effect is an error, below the report.
func TestWhatTheFlagsDidNotGetIsAnError(t *testing.T) {
	named := stories + "kep-4443-story-1-the-reason-names-the-exit-code.yaml"
	perIndex := stories + "kep-3850-story-1-one-retry-per-suite.yaml"
	for _, tc := range []struct {
		args string
		code int
		text string
	}{
		{named + " --pods container=nope,exit=1", cmdutil.ExitUsage, `--pods=container=nope,exit=1 matched no pod: there is no container "nope", only main`},
		{named + " --pods index=3,exit=1", cmdutil.ExitUsage, "matched no pod: the Job is not Indexed"},
		{named + " --pods attempt=2,exit=1", cmdutil.ExitUsage, "matched no pod: there was no attempt 2"},
		{perIndex + " --pods index=900,exit=1", cmdutil.ExitUsage, "matched no pod: the indexes of the Job are 0-"},
		{named + " --pods run=2h --limit 1h", cmdutil.ExitTimeout, "the limit of 1h was reached; let more virtual time pass with --limit"},
		{named + " --pods run=2h --limit 1h --pods attempt=7", cmdutil.ExitTimeout, "there was no attempt 7"},
		{"../../../examples/stalls/suspended.yaml", cmdutil.ExitTimeout, "error: the Job is suspended, so nothing runs; resume it with --resume-after 0s"},
		{named + " --pods exit=1 --pods attempt=1,exit=3", 0, ""},
		{named + " --pods attempt=1 --pods exit=3", 0, ""}, // the first one is overridden
	} {
		got := program.Run(t, nil, append([]string{"simulate", "-f"}, strings.Fields(tc.args)...)...)
		if got.Code != tc.code || !strings.Contains(got.ErrOut, tc.text) || got.Out == "" {
			t.Errorf("%s: exit %d, %q, %q", tc.args, got.Code, got.Out, got.ErrOut)
		}
		assert.Equal(t, strings.Contains(got.ErrOut, "error"), (tc.text != ""), tc.args, got.ErrOut)
	}
	got := program.Run(t, nil, "simulate", "-o", "json", "-f", named, "--pods", "run=2h", "--limit", "1h")
	var r explain.Report
	if err := json.Unmarshal([]byte(got.Out), &r); err != nil || r.Verdict.Outcome != reconcile.OutcomeOpen || r.Verdict.Reason != "" {
		t.Errorf("too long: %v, %s %q", err, r.Verdict.Outcome, r.Verdict.Reason)
	}
}

// No controller would run the Job, although the simulation does.
// Requirements: MGB-12
func TestMisspelledManagedByIsReported(t *testing.T) {
	const warning = "warning: PATH:1:74: managedBy \"batchjob.dev/contoller\" looks like a misspelling of batchjob.dev/controller"
	got := program.RunOn(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {managedBy: batchjob.dev/contoller, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}", "simulate")
	assert.Equal(t, got.Code, cmdutil.ExitDone)
	assert.Contains(t, got.ErrOut, warning)
}

// simulate does not have create's flag --validate.
func TestUnknownFieldIsRejectedWithoutCreatesFlags(t *testing.T) {
	got := program.RunOn(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {backofLimit: 3, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}", "simulate")
	if got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, "did you mean backoffLimit") || strings.Contains(got.ErrOut, "--validate") {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
}

// Names may be in the rules, as in KEP-4443, and the Job in a CronJob.
// Requirements: PFN-23
func TestCronJobWithNamesInItsRulesIsSimulated(t *testing.T) {
	manifest := `{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}, spec: {schedule: "0 3 * * *", jobTemplate: {spec: {
  podFailurePolicy: {rules: [{name: Corrupt, action: FailJob, onExitCodes: {operator: In, values: [42]}}]},
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}}}`
	file := clitest.WriteManifest(t, manifest)
	got := program.Run(t, nil, "simulate", "-f", file, "--pods", "exit=42")
	if got.Code != 0 || !strings.Contains(got.Out, `rule 0 "Corrupt"`) || !strings.Contains(got.ErrOut, "without a cluster") {
		t.Errorf("exit %d\n%s%s", got.Code, got.Out, got.ErrOut)
	}
	assert.Equal(t, program.Run(t, nil, "simulate", "-f", file, "--pods", "exit=42").Out, got.Out, "another run ends in another way")
}

func TestSimulateUsage(t *testing.T) {
	job := stories + "kep-4443-story-1-the-reason-names-the-exit-code.yaml"
	for _, tc := range []struct {
		args string
		code int
		text string
	}{
		{"-f " + job + " --pods exit=x", cmdutil.ExitUsage, "--pods=exit=x: exit=x: must be a number between 0 and 255"},
		{"-f " + job + " --pods exit=256", cmdutil.ExitUsage, "must be a number"},
		{"-f " + job + " --pods attempt=0", cmdutil.ExitUsage, "must be a number between 1"},
		{"-f " + job + " --pods index=3..5", cmdutil.ExitUsage, "index=3..5"},
		{"-f " + job + " --pods index=", cmdutil.ExitUsage, "must be an index or a range"},
		{"-f " + job + " --resume-after -1s", cmdutil.ExitUsage, "--resume-after=-1s: must be 0 or more"},
		{"-f " + job + " --resume-after 1s", cmdutil.ExitUsage, "--resume-after: the Job is not suspended"},
		{"-f " + job + " --pods run=fast", cmdutil.ExitUsage, "must be a duration"},
		{"-f " + job + " --pods color=red", cmdutil.ExitUsage, "unknown; use index"},
		{"-f " + job + " --limit 0s", cmdutil.ExitUsage, "--limit"},
		{"-f " + job + " -o table", cmdutil.ExitUsage, "unknown output format"},
		{"", cmdutil.ExitUsage, "name a file"},
		{"-f gone.yaml", cmdutil.ExitError, "gone.yaml"},
		{"-f " + stories + "kep-4443-story-2-leave-it-or-restart-it.yaml", cmdutil.ExitError, "found 2 Jobs"},
		{"-f ../lint/testdata/lint/many.yaml", cmdutil.ExitError, "../lint/testdata/lint/many.yaml:"},
	} {
		program.Run(t, nil, append([]string{"simulate"}, strings.Fields(tc.args)...)...).Want(t, tc.code, "", tc.text)
	}
}

const manyJobs = `apiVersion: batch/v1
kind: Job
metadata: {name: first}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}
---
` + clitest.JobSet

// One of several Jobs is chosen by name, including the Jobs of a JobSet (issue 17).
// Requirements: CLI-05
func TestOneOfSeveralJobsIsSimulated(t *testing.T) {
	file := clitest.WriteManifest(t, manyJobs)
	for name, reason := range map[string]string{
		"first": "BackoffLimitExceeded", "nightly": "BackoffLimitExceeded", "train-driver-0": "BackoffLimitExceeded", "train-workers-3": "PodFailurePolicy_Broken",
	} {
		r := simulated(t, file, name, "--pods", "exit=2")
		if r.Job.Name != name || r.Verdict.Reason != reason {
			t.Errorf("%s: %s %q", name, r.Job.Name, r.Verdict.Reason)
		}
	}
	const list = "first, nightly, train-driver-0, train-workers-0"
	for args, want := range map[string]string{
		"":                "error: found 4 Jobs: " + list + "; add the name of the one to simulate, or use a file with one Job\n",
		"second":          "error: there is no Job \"second\", only " + list + "\n",
		"train-workers-4": "error: there is no Job \"train-workers-4\", only " + list + "\n",
		"first nightly":   "error: only one Job can be simulated at a time; see: kubectl batchjob simulate --help\n",
	} {
		got := program.Run(t, nil, append([]string{"simulate", "-f", file}, strings.Fields(args)...)...)
		if got.Code == 0 || got.ErrOut != want || got.Out != "" {
			t.Errorf("%q: exit %d, stderr %q, want %q", args, got.Code, got.ErrOut, want)
		}
	}
	program.Completes(t, nil, map[string]string{
		"simulate|-f|" + file + "|": strings.ReplaceAll(list, ",", "") + " :4", "simulate|-f|" + file + "|t": "train-driver-0 train-workers-0 :4",
		"simulate|-f|" + file + "|first|": " :4", "simulate|-f|-|": " :4", "simulate|": " :4",
	})
	twice := clitest.WriteManifest(t, clitest.PlainJob+"---\n"+clitest.PlainJob)
	// A Job and a CronJob may have the same name, and an old API version.
	cron := "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: \"@daily\"\n  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}\n"
	both := clitest.WriteManifest(t, clitest.PlainJob+"---\n"+cron)
	for _, args := range [][]string{{"simulate", "-f", both}, {"simulate", "-f", both, "a"}} {
		if got := program.Run(t, nil, args...); got.ErrOut != "error: found 2 Jobs: a, a; name one with its kind, as in job/a, or use a file with one Job\n" {
			t.Errorf("stderr %q", got.ErrOut)
		}
	}
	for _, name := range []string{"job/a", "cronjob/a"} {
		if r := simulated(t, both, name); r.Job.Name != "a" || r.Verdict.Reason != "CompletionsReached" {
			t.Errorf("%s: %+v", name, r.Verdict)
		}
	}
	if got := program.Run(t, nil, "simulate", "-f", twice, "a"); got.ErrOut != "error: found 2 Jobs: a, a; add the name of the one to simulate, or use a file with one Job\n" {
		t.Errorf("stderr %q", got.ErrOut)
	}
}

// The pods repeat the behavior of a Job's pods in the cluster, unless --pods says otherwise.
func TestPodsOfAJobAreRepeated(t *testing.T) {
	o := clitest.NewExplained(t)
	file := stories + "kep-4443-story-1-the-reason-names-the-exit-code.yaml"
	for args, want := range map[string]string{
		"--from job/train":                      "42",
		"--from train --pods attempt=1,exit=43": "43",
	} {
		got := program.Run(t, o.API, append([]string{"simulate", "-f", file, "-o", "json"}, strings.Fields(args)...)...)
		var r explain.Report
		if err := json.Unmarshal([]byte(got.Out), &r); err != nil || got.Code != 0 {
			t.Fatalf("%s: exit %d, %v, %s", args, got.Code, err, got.ErrOut)
		}
		if len(r.Causes) == 0 || !strings.Contains(r.Causes[0].Text, want) {
			t.Errorf("%s: %+v", args, r.Causes)
		}
	}
	for args, text := range map[string]string{
		"absent": `job "absent" not found in namespace "ns1"; if bundle or watch --record kept it, use --from FILE`, "pod/a": "is not a Job",
	} {
		if got := program.Run(t, o.API, "simulate", "-f", file, "--from", args); got.Code == 0 || !strings.Contains(got.ErrOut, text) {
			t.Errorf("%s: exit %d, %s", args, got.Code, got.ErrOut)
		}
	}
}

// A recording of watch needs no cluster.
func TestPodsOfARecordingAreRepeated(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	c, err := recorded.Load("../../../pkg/explain/analysis/testdata/recorded/failure-policy-named.yaml")
	assert.NoError(t, err)
	file := clitest.WriteRecording(t, analysis.Explain(c.Inputs[0], explain.Options{MaxPods: -1}))
	r := simulated(t, "../../../examples/indexed-10.yaml", "--from", file)
	if r.Indexes == nil || !slices.ContainsFunc(r.Causes, func(c explain.Cause) bool { return strings.Contains(c.Text, "42") }) {
		t.Errorf("%+v", r.Causes)
	}
}

// Requirements: CLI-41. Of a gang in which one fails, the others were stopped: the controller's events are part of a
// simulation. Its pods are nowhere, so no command is about one.
func TestPodsThatTheSimulatedJobStoppedAreOneLine(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	manifest := `{apiVersion: batch/v1, kind: Job, metadata: {name: ranks}, spec: {completionMode: Indexed, completions: 8, parallelism: 8,
  backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: main, image: a}]}}}}`
	got := program.RunOn(t, manifest, "simulate", "--pods", "run=60s", "--pods", "index=2,exit=42,run=5s")
	if !strings.Contains(got.Out, "  7 other pods were stopped when the Job failed\n") || strings.Contains(got.Out, "nothing recorded") || strings.Contains(got.Out, "kubectl") {
		t.Errorf("exit %d\n%s", got.Code, got.Out)
	}
}

// Sidecars that are killed at the end of each pod make a rule without containerName ignore all failures.
// Requirements: FCT-08
func TestSidecarsShowWhichRulesTheyMatch(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	file := clitest.WriteManifest(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: task}, spec: {backoffLimit: 0, activeDeadlineSeconds: 60,
  podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [137]}}]},
  template: {spec: {restartPolicy: Never, initContainers: [{name: mesh, image: a, restartPolicy: Always}], containers: [{name: work, image: a}]}}}}`)
	if r := simulated(t, file, "--pods", "exit=1"); r.Verdict.Reason != "BackoffLimitExceeded" {
		t.Errorf("%+v", r.Verdict)
	}
	r := simulated(t, file, "--pods", "exit=1,sidecars=137")
	if r.Verdict.Reason != "DeadlineExceeded" || len(r.Causes) == 0 || r.Causes[0].Hidden == nil || r.Causes[0].Hidden.Container != "work" {
		t.Errorf("%+v, causes %+v", r.Verdict, r.Causes)
	}
	assert.Contains(t, program.Run(t, nil, "simulate", "-f", file).ErrOut, "the rule has no containerName")
}
