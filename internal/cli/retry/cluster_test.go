package retry

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// failedJob is ns1/NAME with six indexes: 2 has failed, and 4 did not complete.
func failedJob(t *testing.T, name string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	job := &unstructured.Unstructured{}
	text := fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {namespace: ns1, name: %s, uid: uid-%[1]s, creationTimestamp: "2026-03-01T11:00:00Z"}
spec:
  completions: 6
  parallelism: 3
  completionMode: Indexed
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
status:
  completedIndexes: 0,1,3,5
  failedIndexes: "2"
  succeeded: 4
  conditions: [{type: Failed, status: "True", reason: FailedIndexes}]
`, name)
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = job.UnmarshalJSON(data)
	}
	assert.NoError(t, err)
	for _, c := range change {
		c(job)
	}
	return job
}

func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(job *unstructured.Unstructured) { _ = unstructured.SetNestedField(job.Object, value, path...) }
}

// state describes what a Job runs: nothing, all indexes, or all but some.
func state(job *unstructured.Unstructured) string {
	switch completed, _, _ := unstructured.NestedString(job.Object, "status", "completedIndexes"); {
	case job == nil:
		return "none"
	case at(job.Object, "spec.suspend") == "true" && at(job.Object, "spec.parallelism") == "0":
		return "held"
	case at(job.Object, "spec.suspend") == "true":
		return "queued without " + completed
	default:
		return "runs without " + completed
	}
}

func (j jobState) want(t *testing.T, api *clitest.Writes) {
	t.Helper()
	job := api.Job(j.name)
	got := "none"
	if job != nil {
		got = state(job)
	}
	assert.Equal(t, got, j.state, j.name)
}

type jobState struct{ name, state string }

func wantRun(t *testing.T, got clitest.Result, code int, parts ...string) {
	t.Helper()
	assert.Equal(t, got.Code, code)
	for _, part := range parts {
		assert.Contains(t, got.Out+got.ErrOut, part)
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", got.Out, got.ErrOut)
	}
}

// If the API server does not answer, nothing is created.
// Requirements: RTY-10
func TestRetryWithoutAPIServer(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	api.API.Server.Close()
	got := program.Run(t, api.API, "retry", "a")
	if wantRun(t, got, cmdutil.ExitError); cmdutil.KindOf(got.Err) != cmdutil.KindUnreachable {
		t.Errorf("%v", got.Err)
	}
}
