package analysis_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// The JSON of a report is an interface for scripts: no name in it changes or disappears within v1alpha1 (CLI-04).
func TestJSONIsStable(t *testing.T) {
	c, err := recorded.Load(filepath.Join("testdata", "recorded", "failure-policy-named.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(report(c.Inputs[0]), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", "report.json")
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./pkg/explain/analysis -rewrite, and read the diff); got:\n%s", path, got)
	}
	var back explain.Report
	decoder := json.NewDecoder(bytes.NewReader(want))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&back); err != nil {
		t.Errorf("a field of the stored report is not known anymore: %v", err)
	}
}
