package analysis_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// The JSON of a report is an interface for scripts: no name in it changes or disappears within v1alpha1 (CLI-04).
func TestJSONIsStable(t *testing.T) {
	c, err := recorded.Load(filepath.Join("testdata", "recorded", "failure-policy-named.yaml"))
	assert.NoError(t, err)
	got, err := json.MarshalIndent(explaintest.Report(c.Inputs[0]), "", "  ")
	assert.NoError(t, err)
	goldenfile.Compare(t, filepath.Join("testdata", "report.json"), string(got)+"\n")
	var back explain.Report
	decoder := json.NewDecoder(bytes.NewReader(got))
	decoder.DisallowUnknownFields()
	assert.NoError(t, decoder.Decode(&back), "a field of the report cannot be read back")
}
