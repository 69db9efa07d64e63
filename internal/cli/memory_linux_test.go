//go:build measure && !race

package cli

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// manyPods is a Job with 5000 pods, each with a termination message of the maximum length.
const manyPods = "many-pods"

const (
	// mostMemory is twice the limit for any verb with any object that an API server accepts: the garbage collector falls
	// behind when the process has to wait for a processor.
	mostMemory = 2 * 200 << 20
	// testCode is the size of the test binary besides the verbs: it takes 65 MB to lint a manifest, and the plugin
	// takes 30.
	testCode = 25 << 20
)

// linesOfChild is the variable with the command lines that a child process runs, one per line.
const linesOfChild = "BATCHJOB_TEST_LINES"

// runLines runs the command lines of a child process, and prints their errors to stderr.
func runLines(lines string) {
	env := clitest.NewEnv()
	env.Now, env.SetGCPercent, env.SetMemoryLimit = time.Now, debug.SetGCPercent, debug.SetMemoryLimit
	for line := range strings.Lines(lines) {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: os.Stdout, ErrOut: os.Stderr}
		if err := program.Execute(context.Background(), strings.Fields(line), streams, env); err != nil {
			cmdutil.PrintError(os.Stderr, err)
		}
	}
	fmt.Fprintln(os.Stderr, resident())
}

// resident returns the peak memory of this process so far, in kB.
func resident() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	n, _ := strconv.Atoi(strings.Fields(text)[0])
	return n
}

// With the largest indexes, lists, texts and numbers of pods that fit into a Job, no verb fails, or uses much memory. The
// race detector takes too long.
// Requirements: CLI-12
func TestNoVerbNeedsMuchMemory(t *testing.T) {
	if lines := os.Getenv(linesOfChild); lines != "" {
		runLines(lines)
		return
	}
	ended, open, api := worstJobs(t)
	dir := t.TempDir()
	manifest := filepath.Join(dir, "job.yaml")
	assert.NoError(t, os.WriteFile(manifest, []byte(hugeManifest), 0o600))
	crowd := filepath.Join(dir, "crowd.yaml")
	ofCrowd := strings.Replace(hugeManifest, "2147483647\n  parallelism: 2", "100000\n  parallelism: 100000", 1)
	assert.NoError(t, os.WriteFile(crowd, []byte(ofCrowd), 0o600))
	each := func(format string, jobs ...string) (lines []string) {
		for _, job := range jobs {
			lines = append(lines, strings.ReplaceAll(format, "JOB", job))
		}
		return lines
	}
	if testing.Short() { // one of each kind: text without end, and the most pods
		ended = []string{"texts", manyPods}
	}
	all := slices.Concat(ended, open)
	for verb, lines := range map[string][]string{
		"status":     {"status", "status -o wide", "status -o json", "status -o yaml"},
		"explain":    each("why JOB --full", all...),
		"explain -o": each("why JOB -o json", all...),
		"watch":      each("watch JOB --plain --exit-status", ended...),
		"record":     each("watch JOB --plain --exit-status --record "+dir+"/JOB.jsonl\nwatch --plain --from "+dir+"/JOB.jsonl", ended...),
		"wait":       each("wait JOB", ended...),
		"logs":       each("logs JOB", ended...),
		"retry":      each("retry JOB --dry-run=client", "endless", "all-failed", "alternating", "texts", manyPods),
		"bundle":     each("bundle JOB -f "+dir+"/JOB.tar.gz\nwhy --from "+dir+"/JOB.tar.gz", all...),
		"what-if":    each("what-if JOB --set backoffLimit=3 --limit 1h", ended...),
		"run":        {"run -f " + manifest + " --junit " + dir + "/report.xml --logs=none"},
		"create":     {"create -f " + manifest + " --dry-run=client -o yaml"},
		"lint":       {"lint -f " + manifest},
		"simulate":   {"simulate -f " + crowd + " --pods run=1h -o json"}, // so that pods accumulate
		"complete":   {"__complete why endless --index 9"},
	} {
		t.Run(verb, func(t *testing.T) {
			server := api
			if verb == "run" {
				server = failing(t)
			}
			used, text := peak(t, server, lines)
			measure.AtMost(t, used, mostMemory+testCode, "bytes")
			if strings.Contains(strings.Replace(text, "error: the Job had not finished after", "", 1), "error:") { // simulate gives up
				t.Errorf("%.300s", text)
			}
		})
	}
}

// peak returns the peak memory of a process that runs the command lines, and its stderr.
func peak(t *testing.T, api *clitest.API, lines []string) (most int64, text string) {
	t.Helper()
	var stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), clitest.Patience)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestNoVerbNeedsMuchMemory$")
	child.Env = append(os.Environ(), linesOfChild+"="+strings.Join(lines, "\n"), "KUBECONFIG="+clitest.WriteKubeconfig(t, api.URL()))
	child.Stderr = &stderr
	assert.NoError(t, child.Run(), stderr.String())
	text = strings.TrimSpace(stderr.String())
	last := strings.LastIndexByte(text, '\n') + 1
	kilobytes, err := strconv.ParseInt(text[last:], 10, 64)
	assert.NoError(t, err)
	return kilobytes << 10, text[:last]
}

// hugeManifest is a Job with the maximum number of indexes.
const hugeManifest = `apiVersion: batch/v1
kind: Job
metadata: {name: created, namespace: ns1}
spec:
  completions: 2147483647
  parallelism: 2
  completionMode: Indexed
  backoffLimitPerIndex: 1
  maxFailedIndexes: 1
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}
`

// worstJobs returns Jobs that have ended, and Jobs that have not, on a server where created Jobs fail.
func worstJobs(t *testing.T) (ended, open []string, api *clitest.API) {
	t.Helper()
	failed := map[string]any{"failed": int64(1), "completedIndexes": "0-9", "failedIndexes": "10", "succeeded": int64(10)}
	even, odd := make([]int32, 0, alternating), make([]int32, 0, alternating)
	for i := range int32(alternating) {
		even, odd = append(even, 2*i), append(odd, 2*i+1)
	}
	jobs := []*unstructured.Unstructured{
		worstJob("endless", "Failed", failed),
		worstJob("all-failed", "Failed", map[string]any{"failed": int64(math.MaxInt32), "failedIndexes": "0-2147483646"}),
		worstJob("all-complete", "Complete", map[string]any{"succeeded": int64(math.MaxInt32), "completedIndexes": "0-2147483646"}),
		worstJob("alternating", "Failed", map[string]any{"completedIndexes": indexset.Of(even...).String(), "failedIndexes": indexset.Of(odd...).String()}),
		worstJob("texts", "Failed", failed),
		worstJob(manyPods, "Failed", failed),
		worstJob("most-gone", "Complete", map[string]any{"succeeded": int64(30_000), "completedIndexes": "0-29999"}),
		worstJob("runs", "", map[string]any{"active": int64(2), "completedIndexes": indexset.Of(even...).String()}),
	}
	for _, job := range jobs {
		if job.GetName() == "runs" {
			open = append(open, job.GetName())
			continue
		}
		ended = append(ended, job.GetName())
	}
	spec := jobs[6].Object["spec"].(map[string]any)
	spec["completions"], spec["parallelism"] = int64(30_000), int64(30_000)
	texts := jobs[4]
	texts.SetAnnotations(map[string]string{"text": strings.Repeat("x", 256<<10-10), "batchjob.dev/pod-failure-policy-rule-names": strings.Repeat("0=a,", 5)})
	conditions, _, _ := unstructured.NestedSlice(texts.Object, "status", "conditions")
	conditions[0].(map[string]any)["message"] = strings.Repeat("long words ", 110_000)
	_ = unstructured.SetNestedSlice(texts.Object, conditions, "status", "conditions")
	server := clitest.NewObjects(t, jobs...)
	for _, job := range jobs {
		server.Pods.Put(clitest.EndedPod(job, job.GetName()+"-0-a", 1, ""))
	}
	for i := range 5000 {
		pod := clitest.EndedPod(jobs[5], fmt.Sprintf(manyPods+"-%d-%05d", i, i), 1, strings.Repeat("why ", 1000))
		pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": strconv.Itoa(i)}
		server.Pods.Pods = append(server.Pods.Pods, pod)
	}
	return ended, open, server.API
}

// failing returns a server where every created Job fails.
func failing(t *testing.T) *clitest.API {
	t.Helper()
	server := clitest.NewWrites(t)
	server.Around = func(_ string, _ *http.Request, serve func()) {
		serve()
		if job := server.Job("created"); job != nil {
			job.Object["status"] = worstJob("created", "Failed", map[string]any{"failed": int64(1), "completedIndexes": "0-9", "failedIndexes": "10"}).Object["status"]
			server.API.Put(job)
		}
	}
	return server.API
}

// alternating is the number of alternating indexes whose lists fit into an object of 1.5 MB.
const alternating = 100_000

// worstJob returns a Job with the maximum number of indexes.
func worstJob(name, condition string, status map[string]any) *unstructured.Unstructured {
	job := clitest.SimpleJob("ns1", name, 0)
	job.Object["spec"] = map[string]any{
		"completions": int64(math.MaxInt32), "parallelism": int64(2), "completionMode": "Indexed", "backoffLimitPerIndex": int64(1), "maxFailedIndexes": int64(1),
		"selector": map[string]any{"matchLabels": map[string]any{"job": name}},
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "busybox"}}}},
	}
	status["startTime"] = "2026-03-01T11:55:00Z"
	job.Object["status"] = status
	if condition != "" {
		return clitest.WithCondition(job, condition, "FailedIndexes", "too many")
	}
	return job
}
