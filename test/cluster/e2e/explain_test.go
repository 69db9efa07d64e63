package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// explained is the expected explanation of a failed Job.
type explained struct {
	container string
	exitCode  int32
	rule      *int32
	ruleName  string
	causes    int
	sentence  string
}

// failures holds the failing Jobs of examples/, by file.
var failures = map[string]map[string]explained{
	"over-backoff-limit": {"over-backoff-limit": {container: "worker", exitCode: 1, causes: 1, sentence: "backoffLimit 1 allows 1 retry"}},
	"stories/kep-3329-story-1-a-bug-fails-the-job": {"protein-folding": {
		container: "fold", exitCode: 134, rule: ptr.To[int32](0), causes: 2, sentence: "exited with code 134 (SIGABRT)",
	}},
	"stories/kep-3329-story-3-few-disruptions-and-no-bugs": {"tenant-training-run": {
		container: "train", exitCode: 1, rule: ptr.To[int32](1), causes: 2, sentence: "rule 1",
	}},
	"stories/kep-3850-story-1-one-retry-per-suite": {"nightly-suites": {
		container: "tests", exitCode: 1, causes: 1, sentence: "1 of its 10 indexes failed",
	}},
	"stories/kep-3850-story-2-no-retry-for-exit-code-42": {"nightly-suites-strict": {
		container: "tests", exitCode: 42, causes: 2, sentence: "1 of its 10 indexes failed",
	}},
	"stories/kep-3850-story-3-stop-when-most-suites-fail": {"nightly-suites-broken-build": {
		container: "tests", exitCode: 1, causes: 2, sentence: "maxFailedIndexes allows 5",
	}},
	"stories/kep-4443-story-1-the-reason-names-the-exit-code": {"training-workers-0": {
		container: "main", exitCode: 2, rule: ptr.To[int32](0), ruleName: "ExitCode2", causes: 1, sentence: `"ExitCode2"`,
	}},
	"stories/kep-4443-story-2-leave-it-or-restart-it": {
		"simulation-bad-parameters": {container: "main", exitCode: 2, rule: ptr.To[int32](0), ruleName: "ExitCode2", causes: 1, sentence: "viscosity is negative"},
		"simulation-bad-luck":       {container: "main", exitCode: 3, rule: ptr.To[int32](1), ruleName: "ExitCode3", causes: 1, sentence: `"ExitCode3"`},
	},
	"failures/command-not-found": {"report": {container: "main", exitCode: 127, causes: 1, sentence: "command mkreport was not found"}},
	"failures/out-of-memory":     {"train": {container: "trainer", exitCode: 137, causes: 1, sentence: "OOMKilled"}},
	"failures/three-causes":      {"sweep": {container: "worker", exitCode: 1, causes: 3, sentence: "mostly (407 of 412)"}},
}

// Each failing Job of the examples is explained: rule, pod, container and exit code, as text and as JSON; 412 failures
// have three causes (CLI-04).
func TestExplanationsNameRulePodAndExitCode(t *testing.T) {
	t.Parallel()
	for file, jobs := range failures {
		t.Run(strings.ReplaceAll(file, "/", " "), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			for _, job := range load(t, file+".yaml") {
				create(t, ns, job)
			}
			for name, want := range jobs {
				finished(t, ns, name)
				wantExplained(t, ns, name, want)
			}
			if file == "failures/three-causes" {
				wantGrouped(t, ns)
			}
		})
	}
}

func explainFailure(t *testing.T, ns string, args ...string) string {
	t.Helper()
	out := kubectlBatchjob(t, append([]string{"why", "--kubeconfig", kubeconfig, "-n", ns}, args...)...)
	if out.Code != 0 || out.ErrOut != "" {
		t.Fatalf("exit %d, %s", out.Code, out.ErrOut)
	}
	return out.Out
}

func wantExplained(t *testing.T, ns, name string, want explained) {
	t.Helper()
	var r explain.Report
	assert.NoError(t, json.Unmarshal([]byte(explainFailure(t, ns, name, "-o", "json")), &r))
	if r.Verdict.Outcome != reconcile.OutcomeFailed || !ptr.Equal(r.Verdict.Rule, want.rule) || r.Verdict.RuleName != want.ruleName || !strings.Contains(r.Verdict.Sentence, want.sentence) {
		t.Errorf("%s: %+v, want %+v", name, r.Verdict, want)
	}
	// Pods that the Job stopped are one cause here: each of them is still there with its exit code, or was deleted before it ended.
	n, stopped := 0, 0
	for _, c := range r.Causes {
		if c.Consequence {
			stopped = 1
		} else {
			n++
		}
	}
	assert.Equal(t, n+stopped, want.causes, name, r.Causes)
	text := explainFailure(t, ns, name, "--full")
	pod, exit := "", false
	for _, e := range r.Evidence {
		if e.Kind == explain.EvidencePod {
			pod = e.Pod
		}
		exit = exit || e.Kind == explain.EvidenceContainer && e.Container == want.container && ptr.Equal(e.ExitCode, &want.exitCode)
	}
	if !exit || !failedPod(t, ns, name, pod) {
		t.Errorf("%s: pod %q, container and exit code told: %v; %+v", name, pod, exit, r.Evidence)
	}
	for _, part := range []string{want.sentence, pod, fmt.Sprintf("Container %s exited with code %d", want.container, want.exitCode), want.ruleName} {
		assert.Contains(t, strings.Join(strings.Fields(text), " "), part, name, text)
	}
}

// failedPod reports whether the Job has a failed pod of this name.
func failedPod(t *testing.T, ns, job, name string) bool {
	t.Helper()
	return slices.ContainsFunc(pods(t, ns, job), func(p corev1.Pod) bool { return p.Name == name && p.Status.Phase == corev1.PodFailed })
}

// wantGrouped checks the explanation of 412 failures with three causes: each with its indexes, and one index alone.
func wantGrouped(t *testing.T, ns string) {
	t.Helper()
	text := explainFailure(t, ns, "sweep", "--full")
	for _, part := range []string{"412 failures, 3 causes", "exited with code 137 (OOMKilled)", "indexes 17,200,201", "exited with code 42", "indexes 3,99"} {
		assert.Contains(t, text, part)
	}
	if one := explainFailure(t, ns, "sweep", "--index", "99"); !strings.Contains(one, "exited with code 42") || strings.Contains(one, "code 137") {
		t.Errorf("--index 99:\n%s", one)
	}
}

// Every failing example is among the explained ones.
// Requirements: CLI-04
func TestAllFailingExamplesAreExplained(t *testing.T) {
	t.Parallel()
	for file, jobs := range stories {
		for name, end := range jobs {
			if _, ok := failures["stories/"+file][name]; ok != (end.terminal == "Failed") {
				t.Errorf("%s ends %s, and is explained: %v", name, end.terminal, ok)
			}
		}
	}
	files, err := filepath.Glob("../../../examples/failures/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		file := "failures/" + strings.TrimSuffix(filepath.Base(path), ".yaml")
		if _, ok := failures[file]; !ok && file != "failures/deadline" {
			t.Errorf("no test explains %s", file)
		}
	}
}

// A deadline is not a container's fault: the explanation has the limit, and the affected pods.
// Requirements: CLI-04
func TestDeadlineIsExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "failures/deadline.yaml")
	finished(t, ns, "simulation")
	text := strings.Join(strings.Fields(explainFailure(t, ns, "simulation")), " ")
	for _, part := range []string{"it ran longer than its activeDeadlineSeconds (5s)", "2 pods were stopped when activeDeadlineSeconds", "with an activeDeadlineSeconds above 5"} {
		assert.Contains(t, strings.ToLower(text), strings.ToLower(part), part, text)
	}
	if out := kubectlBatchjob(t, "wait", "simulation", "--kubeconfig", kubeconfig, "-n", ns); out.Code != 3 || !strings.Contains(out.Out, "DeadlineExceeded") {
		t.Errorf("wait: exit %d, %s", out.Code, out.Out)
	}
}
