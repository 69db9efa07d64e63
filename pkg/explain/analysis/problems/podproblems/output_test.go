package podproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// onePod returns the input about a Job of one pod in this phase, whose container has these arguments.
func onePod(phase corev1.PodPhase, args ...string) input.Input {
	job := explaintest.JobWith
	if phase == corev1.PodSucceeded {
		job = explaintest.CompleteJob
	}
	return explaintest.InputOf(job(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
		if phase == corev1.PodRunning {
			j.Status.Active, j.Status.Failed = 1, 0
		}
		j.Spec.Template.Spec.Containers[0].Command, j.Spec.Template.Spec.Containers[0].Args = []string{"sh", "-c"}, args
	}), explaintest.PodOf("train-x", func(p *corev1.Pod) { p.Status.Phase, p.Spec.NodeName = phase, "node-1" }))
}

// Requirements: FCT-13
func TestErrorThatARunningContainerRepeatsIsInTheFirstSentence(t *testing.T) {
	in := onePod(corev1.PodRunning)
	in.Logs = []input.LogTail{{Pod: "train-x", Container: "main", Lines: []string{"403 (ACL not found)", "Retrying in 1s"}, Repeated: "Unexpected response code: 403 (ACL not found)"}}
	r := explaintest.Report(in)
	explaintest.WantVerdict(t, r, "The Job is running, but the log of container main repeats an error: “Unexpected response code: 403 (ACL not found)”; 0 of 1 pod succeeded, 1 pod is active.")
	p := explaintest.Problem(t, r, explain.ProblemErrorRepeated)
	assert.Equal(t, p.Blocks, false)
	explaintest.WantText(t, r, "kubectl logs train-x -n ns")
	explaintest.WantText(t, r, "the servers know")

	in.Logs[0].Repeated = "dial tcp: lookup db: no such host"
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running, but the log of container main repeats an error: host name db could not be resolved; 0 of 1 pod succeeded, 1 pod is active.")

	in.Logs[0].Repeated = ""
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running: 0 of 1 pod succeeded, 1 pod is active.")
	assert.Equal(t, len(explaintest.Report(in).Problems), 0)
	in.Logs[0].LastAt = in.Now.Add(-10 * time.Minute)
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running, and container main has printed nothing for 10m; its log ends with “403 (ACL not found)”; 0 of 1 pod succeeded, 1 pod is active.")
	in.Logs[0].LastAt = in.Now.Add(1 - 10*time.Minute)
	assert.Equal(t, len(explaintest.Report(in).Problems), 0)
}

// Requirements: FCT-13
func TestErrorOfACompleteJobIsInTheFirstSentence(t *testing.T) {
	log := []string{`Exception in thread "main" com.example.ParameterException: The following option is required: [-c | --cluster]`, "\tat com.example.Main.main(Main.java:1)"}
	for _, tc := range []struct {
		args, hidden string // hidden is "-" if no command hides the exit code of the program
		log          []string
	}{
		{"bin/setup || true;", "|| true", log},
		{"bin/setup\nexit 0\n", "exit 0", log},
		{"bin/setup; echo done", "echo done", log},
		{"bin/setup | tee /log", "| tee /log", log},
		{"set -o pipefail; bin/setup | tee /log", "-", log},
		{"set -e; bin/setup; exit 0", "-", log},
		{"bin/setup", "+", append(log, "Setup completed successfully")},
		{"pg_dump app > /x; bin/upload", "?", []string{"pg_dump: error: connection refused", "Uploading x"}},
		{"bin/setup", "", append(log, "2026-11-29T10:00:00Z INFO going on")},
		{"bin/setup", "", append(log, "Loading rows...")},
		{"bin/setup || true", "", []string{"database app already exists", "done"}},
		{"bin/setup || true", "", []string{"all is done"}},
	} {
		in := onePod(corev1.PodSucceeded, tc.args)
		in.Logs = []input.LogTail{{Pod: "train-x", Container: "main", Lines: tc.log}}
		r := explaintest.Report(in)
		if tc.hidden == "" {
			assert.Equalf(t, explaintest.HasProblem(r, explain.ProblemErrorHidden), false, "%s", tc.args)
			continue
		}
		p := explaintest.Problem(t, r, explain.ProblemErrorHidden)
		want := map[string]string{"-": "the log of container main ends with an error: ", "+": "the log of container main has an error before it", "?": "the script of container main did not end at an error: "}[tc.hidden]
		if tc.hidden = strings.Trim(tc.hidden, "-+?"); want == "" {
			want = "its command ends with " + tc.hidden + ", which hides an error of container main: "
		}
		assert.Equal(t, p.Asked, tc.hidden)
		explaintest.WantFirst(t, in, "The Job is complete, but "+want)
	}
}

// Requirements: FCT-13
func TestLogOfAContainerThatHasNotFailedIsReadOnlyWithoutTrouble(t *testing.T) {
	running := onePod(corev1.PodRunning)
	failed := onePod(corev1.PodRunning)
	failed.Job.Status.Failed = 1
	waits := explaintest.InputOf(running.Job, running.Pods[0], explaintest.PodOf("train-y", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
	for name, tc := range map[string]struct {
		in   input.Input
		want int
	}{
		"runs":              {running, 1},
		"has failed before": {failed, 0},
		"a pod waits":       {waits, 0},
		"is complete":       {onePod(corev1.PodSucceeded, "x"), 1},
	} {
		assert.Equalf(t, len(analysis.LogTargetsWithOutput(tc.in, explain.Options{}, 3)), tc.want, "%s", name)
		assert.Equalf(t, len(analysis.LogTargets(tc.in, explain.Options{}, 3)), 0, "%s", name)
	}
}
