package analysis_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// The decoded exit code is in the evidence, in the causes and in the advice.
// Requirements: CLI-04
func TestDecodedExitCodeIsInEveryPart(t *testing.T) {
	for _, tc := range []struct {
		code                       int32
		reason                     string
		evidence, meaning, sayings string
	}{
		{137, "OOMKilled", "exited with code 137 (OOMKilled)", "more memory", "memory request and a memory limit"},
		{137, "Error", "exited with code 137 (SIGKILL)", "grace period", "find out what stopped"},
		{143, "Error", "exited with code 143 (SIGTERM)", "asked to stop", "find out what stopped"},
		{127, "Error", "exited with code 127", "not found", "fix the command of container main"},
		{126, "Error", "exited with code 126", "could not be executed", "make the command of container main executable"},
		{7, "Error", "exited with code 7", "", "read the whole log"},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Status.Failed = 1
			explaintest.FailJob(j, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
		}), explaintest.PodOf("train-x", explaintest.Exits(tc.code, tc.reason, 10*time.Minute))))
		var found bool
		for _, e := range r.Evidence {
			if e.Kind != explain.EvidenceContainer {
				continue
			}
			found = true
			if !strings.Contains(e.Text, tc.evidence) || *e.ExitCode != tc.code || e.Signal != cause.Signal(tc.code) || !strings.Contains(e.Text, "after 1m") {
				t.Errorf("%d %s: %+v", tc.code, tc.reason, e)
			}
		}
		if !found || len(r.Causes) != 1 || !strings.Contains(r.Causes[0].Meaning, tc.meaning) {
			t.Errorf("%d %s: %+v, %+v", tc.code, tc.reason, r.Evidence, r.Causes)
		}
		advice := ""
		for _, a := range r.Advice {
			advice += a.Text + "\n"
		}
		assert.Contains(t, advice, tc.sayings, tc.code, tc.reason)
	}
}
