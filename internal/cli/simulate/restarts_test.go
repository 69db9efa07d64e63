package simulate

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// migrate is a Job with an init container, a sidecar and a container.
const migrate = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 3
  template:
    spec:
      restartPolicy: OnFailure
      initContainers: [{name: wait, image: i}, {name: mesh, image: i, restartPolicy: Always}]
      containers: [{name: main, image: i}]
`

// Requirements: SIM-01, SIM-02, SIM-03, SIM-04. The kubelet restarts the containers after 0 s, 10 s and 20 s.
func TestContainersOfPodsRestart(t *testing.T) {
	never := strings.Replace(migrate, "OnFailure", "Never", 1)
	deadline := strings.Replace(never, "initContainers", "activeDeadlineSeconds: 60\n      initContainers", 1)
	for _, tc := range []struct{ name, manifest, args, reason, text string }{
		{"OnFailure at the limit", migrate, "--pods exit=1", "BackoffLimitExceeded", "failed after 33s"},
		{"OnFailure below the limit", migrate, "--pods attempt=1,exit=1 --pods attempt=2,exit=1", "CompletionsReached", "completed after 13s"},
		{"an init container under OnFailure", migrate, "--pods container=wait,exit=9", "BackoffLimitExceeded", "Container wait exited with code 9"},
		{"its first attempt", migrate, "--pods container=wait,exit=9,attempt=1", "CompletionsReached", "Init container wait failed with exit code 9, restarted 1 time"},
		{"an init container under Never", never, "--pods container=wait,exit=9", "BackoffLimitExceeded", "Init container wait exited with code 9"},
		{"a sidecar's restarts count", migrate, "--pods run=2m --pods container=mesh,exit=1,run=5s", "BackoffLimitExceeded", "Container mesh exited with code 1"},
		{"but not under Never", never, "--pods run=2m --pods container=mesh,exit=1,run=5s", "CompletionsReached", "completed after 2m"},
		{"a disruption ends the pod", migrate, "--pods attempt=1,disrupted", "CompletionsReached", "1 pod  Disrupted"},
		{"the pod's own deadline", deadline, "--pods run=2m", "BackoffLimitExceeded", "Pod ran longer than its own activeDeadlineSeconds"},
	} {
		file := clitest.WriteManifest(t, tc.manifest)
		assert.Equal(t, simulated(t, append([]string{file}, strings.Fields(tc.args)...)...).Verdict.Reason, tc.reason, tc.name)
		program.Run(t, nil, append([]string{"simulate", "-f", file}, strings.Fields(tc.args)...)...).Prints(t, cmdutil.ExitDone, tc.text)
	}
}

// Requirements: SIM-04. A flag that names a container says nothing about the others.
func TestFlagsForSeveralContainers(t *testing.T) {
	two := strings.Replace(migrate, "{name: main, image: i}", "{name: main, image: i}, {name: other, image: i}", 1)
	file := clitest.WriteManifest(t, strings.Replace(two, "OnFailure", "Never", 1))
	for args, want := range map[string]string{
		"--pods container=main,exit=3 --pods container=other,exit=4": "main exited with code 3",
		"--pods container=main,exit=3 --pods exit=5":                 "main exited with code 5",
		"--pods exit=5 --pods container=main,exit=3":                 "main exited with code 3",
		"--pods container=main,exit=3 --pods attempt=1":              "", // the first pod succeeds
	} {
		r := simulated(t, append([]string{file}, strings.Fields(args)...)...)
		if want == "" && len(r.Causes) == 0 {
			continue
		}
		if !slices.ContainsFunc(r.Causes, func(c explain.Cause) bool { return strings.Contains(c.Text, want) }) {
			t.Errorf("%s: %+v", args, r.Causes)
		}
	}
}

// Requirements: SIM-05
func TestSuspendedJobsAreResumed(t *testing.T) {
	file := clitest.WriteManifest(t, strings.Replace(migrate, "spec:\n", "spec:\n  suspend: true\n", 1))
	got := program.Run(t, nil, "simulate", "-f", file)
	got.Prints(t, cmdutil.ExitTimeout, "migrate is suspended for 0s")
	for after, want := range map[string]string{"0s": "completed after 1s", "1h": "migrate completed after"} {
		program.Run(t, nil, "simulate", "-f", file, "--resume-after", after).Prints(t, cmdutil.ExitDone, want)
	}
}

// Requirements: CLI-61
func TestSimulateBuildsKustomizations(t *testing.T) {
	folder := clitest.WriteKustomization(t, migrate+"---\n"+clitest.PlainJob)
	got := program.Run(t, nil, "simulate", "-k", folder, "prod-migrate", "--pods", "exit=1")
	got.Prints(t, cmdutil.ExitDone, "prod-migrate failed after 33s")
	if words, _ := program.Complete(t, "simulate", "-k", folder, ""); !slices.Equal(words, []string{"prod-a", "prod-migrate"}) {
		t.Errorf("%q", words)
	}
}
