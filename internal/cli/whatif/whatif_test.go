package whatif

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

const recordings = "../../../pkg/explain/analysis/testdata/recorded/"

// serve starts a fake API server with a recorded Job and its pods.
func serve(t *testing.T, name string) *clitest.Objects {
	t.Helper()
	return serveWith(t, name, func(*corev1.Pod) {})
}

func serveWith(t *testing.T, name string, change func(*corev1.Pod)) *clitest.Objects {
	t.Helper()
	c, err := recorded.Load(recordings + name + ".yaml")
	assert.NoError(t, err)
	c.Jobs[0].SetNamespace("ns1")
	o := clitest.NewObjects(t, c.Jobs[0])
	for i := range c.Pods {
		change(&c.Pods[i])
		o.Pods.Put(&c.Pods[i])
	}
	return o
}

func unstructuredJob(t *testing.T, job *batchv1.Job) *unstructured.Unstructured {
	t.Helper()
	job = job.DeepCopy()
	job.APIVersion, job.Kind, job.Namespace = "batch/v1", "Job", "ns1"
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	assert.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

// The comparison is printed as text, and as JSON.
// Requirements: WIF-06
func TestPoliciesAreCompared(t *testing.T) {
	o := serve(t, "failed-indexes")
	got := program.Run(t, o.API, "what-if", "failed-indexes", "--set", "backoffLimitPerIndex=3")
	if got.Code != 0 {
		t.Fatalf("exit %d, %s", got.Code, got.ErrOut)
	}
	clitest.Golden(t, "failed-indexes.golden", got.Out)
	if used := o.Methods(); len(used) != 1 || !used[http.MethodGet] {
		t.Errorf("it writes: %v", used)
	}
	got = program.Run(t, o.API, "what-if", "job/failed-indexes", "--set", "backoffLimitPerIndex=0", "-o", "json")
	var c whatif.Comparison
	assert.NoError(t, json.Unmarshal([]byte(got.Out), &c), got.Out)
	clitest.Golden(t, "failed-indexes.json", got.Out)
	if c.Kind != whatif.Kind || c.Actual.PodsStarted != 6 || c.New.PodsStarted != 5 || c.New.FailedIndexes != "2" || len(c.Changes) != 1 {
		t.Errorf("%s", got.Out)
	}
}

// A replay that differs from what happened is reported, in text that is safe for a terminal.
func TestReplayThatDiffersIsMarked(t *testing.T) {
	c, err := recorded.Load(recordings + "backoff-limit.yaml")
	assert.NoError(t, err)
	job := c.Inputs[0].Job.DeepCopy()
	job.Status.Failed = 5
	for i := range job.Status.Conditions {
		job.Status.Conditions[i].Reason = "Odd\x1b[31m"
	}
	o := clitest.NewObjects(t, unstructuredJob(t, job))
	for i := range c.Pods {
		o.Pods.Put(&c.Pods[i])
	}
	got := program.Run(t, o.API, "what-if", "backoff-limit", "--set", "backoffLimit=0")
	if got.Code != 0 || !strings.Contains(got.Out, "differs from what happened: failed was 5, not 2.") || strings.Contains(got.Out, "\x1b") {
		t.Errorf("exit %d, %q, %s", got.Code, got.Out, got.ErrOut)
	}
}

// Policies come from files, from standard input, and from flags, which take precedence.
func TestPoliciesAreRead(t *testing.T) {
	o := serve(t, "failed-indexes")
	text := "spec:\n  backoffLimitPerIndex: 0\n  maxFailedIndexes: 0\n"
	file := clitest.WriteManifest(t, text)
	for args, want := range map[string]string{
		"-f " + file: "with backoffLimitPerIndex 0, maxFailedIndexes 0\n",
		"-f " + file + " --set maxFailedIndexes= --set backoffLimitPerIndex=2":                       "with backoffLimitPerIndex 2\n",
		"--set backoffLimitPerIndex= --set podReplacementPolicy=Failed":                              "with backoffLimit 6, no backoffLimitPerIndex, podReplacementPolicy Failed\n",
		"--set podFailurePolicy={rules:[{action:Ignore,onPodConditions:[{type:DisruptionTarget}]}]}": "with another podFailurePolicy, podReplacementPolicy Failed\n",
		"--set backoffLimitPerIndex=1":                                                               "with the policies that it has\n",
	} {
		got := program.Run(t, o.API, append([]string{"what-if", "failed-indexes"}, strings.Fields(strings.ReplaceAll(args, ":", ": "))...)...)
		if strings.Contains(args, "{") {
			got = program.Run(t, o.API, "what-if", "failed-indexes", "--set", strings.ReplaceAll(strings.Fields(args)[1], ":", ": "))
		}
		got.Prints(t, 0, want)
	}
}

// A comparison that is not possible is an error with a clear message, and nothing is printed.
// Requirements: WIF-04
func TestWhatCannotBeAnsweredIsAnError(t *testing.T) {
	odd := serve(t, "backoff-limit")
	invalid := clitest.WriteManifest(t, "parallelism: 3")
	misspelled := clitest.WriteManifest(t, "kind: Job\nspec: {backofLimit: 3}")
	for _, tc := range []struct {
		job, args string
		code      int
		wantText  string
	}{
		{"running", "running --set backoffLimit=1", cmdutil.ExitError, "job.batch/running: it has not finished; wait for it with: kubectl batchjob wait running"},
		{"backoff-limit", "absent --set backoffLimit=1", cmdutil.ExitError, `job "absent" not found in namespace "ns1"; if bundle or watch --record kept it, use --from FILE`},
		{"pods-gone", "pods-gone --set backoffLimit=1", cmdutil.ExitError, `what the pods of job "pods-gone" did is not known: they are gone, or never started; if bundle or watch --record kept it, use --from FILE`},
		{"backoff-limit", "backoff-limit --set kind=Job", cmdutil.ExitError, `unknown field "kind"`},
		{"backoff-limit", "backoff-limit --set maxFailedIndexes=1", cmdutil.ExitError, "maxFailedIndexes needs backoffLimitPerIndex"},
		{"backoff-limit", "backoff-limit --set backoffLimit=many", cmdutil.ExitError, "the policies are not valid"},
		{"backoff-limit", "backoff-limit --set parallelism=1", cmdutil.ExitUsage, "cannot change parallelism, only"},
		{"backoff-limit", "backoff-limit --set backoffLimit", cmdutil.ExitUsage, "write FIELD=VALUE"},
		{"backoff-limit", "backoff-limit -f " + invalid, cmdutil.ExitError, "cannot change parallelism, only"},
		{"backoff-limit", "backoff-limit -f " + misspelled, cmdutil.ExitError, `unknown field "backofLimit"`},
		{"backoff-limit", "backoff-limit -f " + clitest.WriteManifest(t, "metadata: {}"), cmdutil.ExitError, "cannot change metadata, only"},
		{"backoff-limit", "backoff-limit -f " + clitest.WriteManifest(t, ""), cmdutil.ExitError, "there is no policy in it"},
		{"backoff-limit", "backoff-limit -f " + clitest.WriteManifest(t, clitest.JobSet), cmdutil.ExitError, "kind JobSet is not Job"},
		{"backoff-limit", "backoff-limit -f /nonexistent", cmdutil.ExitError, "reading policies from /nonexistent"},
		{"backoff-limit", "backoff-limit", cmdutil.ExitUsage, "change a policy with -f or --set"},
		{"backoff-limit", "--set backoffLimit=1", cmdutil.ExitUsage, "name one Job"},
		{"backoff-limit", "a b --set backoffLimit=1", cmdutil.ExitUsage, "name one Job"},
		{"backoff-limit", "a --set backoffLimit=1 --limit 0s", cmdutil.ExitUsage, "must be more than 0"},
		{"backoff-limit", "a --set backoffLimit=1 -o wide", cmdutil.ExitUsage, "unknown output format"},
	} {
		program.Run(t, serve(t, tc.job).API, append([]string{"what-if"}, strings.Fields(tc.args)...)...).Want(t, tc.code, "", tc.wantText)
	}
	odd.RefusePath("/pods", http.StatusForbidden, "Forbidden")
	program.Run(t, odd.API, "what-if", "backoff-limit", "--set", "backoffLimit=1").Want(t, cmdutil.ExitError, "", "no permission to list pods")
}

// The pods of a deleted Job may remain, but they do not have its policies.
// Requirements: WIF-03
func TestJobThatIsGoneMayBeRecorded(t *testing.T) {
	o := serve(t, "backoff-limit")
	c, err := recorded.Load(recordings + "backoff-limit.yaml")
	assert.NoError(t, err)
	o.API.Remove(unstructuredJob(t, c.Inputs[0].Job))
	want := `error: job "backoff-limit" is gone, and its pods that remain (2) do not have its policies; if bundle or watch --record kept it, use --from FILE` + "\n"
	program.Run(t, o.API, "what-if", "backoff-limit", "--set", "backoffLimit=1").Is(t, cmdutil.ExitError, "", want)
}

// The fields of --set are completed, and their values are not.
func TestFieldsAreCompleted(t *testing.T) {
	program.Completes(t, nil, map[string]string{"what-if|train|--set|backoff": "backoffLimit= backoffLimitPerIndex= :6"})
}

// A recording needs no cluster, and has the pods that existed while it was made.
func TestJobIsReadFromARecording(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	c, err := recorded.Load(recordings + "failed-indexes.yaml")
	assert.NoError(t, err)
	file := clitest.WriteRecording(t, analysis.Explain(c.Inputs[0], explain.Options{MaxPods: -1}))
	got := program.Run(t, nil, "what-if", "failed-indexes", "--from", file, "--set", "backoffLimitPerIndex=3")
	if got.Code != 0 {
		t.Fatalf("exit %d, %s", got.Code, got.ErrOut)
	}
	clitest.Golden(t, "failed-indexes.golden", got.Out)
	for args, wantText := range map[string]string{
		"absent --from " + file:             "shows no pods of the Job",
		"absent --from /nonexistent":        "no such file",
		"absent --from ../whatif/whatif.go": "this is no recording",
	} {
		got := program.Run(t, nil, append([]string{"what-if", "--set", "backoffLimit=1"}, strings.Fields(args)...)...)
		got.Want(t, cmdutil.ExitError, "", wantText)
	}
}
