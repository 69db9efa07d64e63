package report

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/junitcheck"
)

func example() *Report {
	of := func(name, title string) suite.Case {
		return suite.Case{Name: name, Title: title, Source: "KEP-2307, Algorithm", Requirements: []string{"TRK-02", "TRK-28"}}
	}
	return &Report{
		Kubernetes: "v1.37.1", ManagedBy: "example.com/x", Pods: "simulated", Started: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
		Results: []suite.Result{
			{Case: of("completes", "A Job is Complete when its completions are reached"), Outcome: suite.Pass,
				Observed: []string{"succeeded is 1"}, Duration: 1234 * time.Millisecond},
			{Case: of("counts", "A pod counts once"), Outcome: suite.Fail, Observed: []string{"succeeded is 0"}, Duration: 2 * time.Second,
				Problems: []suite.Problem{{Expected: "failed is 1", Seen: "failed is 2"}, {Expected: "the Job is <Failed>", Seen: "it is Complete"}}},
			{Case: of("named", "The reason has the name of the rule"), Outcome: suite.NotApplicable, Why: "the API server has no such field"},
		},
	}
}

// Requirements: CNF-03
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{Text, JSON, JUnit} {
		var out bytes.Buffer
		assert.NoError(t, example().Write(&out, format))
		goldenfile.Compare(t, filepath.Join("testdata", "report."+string(format)), out.String())
		if format == JUnit {
			assert.NoError(t, junitcheck.Check(&out))
		}
	}
}

func TestFormatIsAFlag(t *testing.T) {
	t.Parallel()
	var f Format
	if err := f.Set("junit"); err != nil || f != JUnit {
		t.Errorf("%v, %v", f, err)
	}
	if err := f.Set("yaml"); err == nil || f != JUnit {
		t.Errorf("yaml: %v, %v", f, err)
	}
}
