//go:build node

package node

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The tests compare fields of the JSON output, and texts of the cluster. Sentences come from the JSON output, too, so that
// only the tests of the packages that make them have to know them.

// untilEnd is --timeout of commands that wait for the end of a Job, on a busy machine.
const untilEnd = "150s"

// jobEnd is the end of a Job in the output of `wait -o json`.
type jobEnd struct {
	Outcome, Reason, Message, FailedIndexes string
	Cause                                   *explain.DecidingCause
}

func wantComplete(t *testing.T, ns, name string) {
	t.Helper()
	assert.Equal(t, waitFor(t, ns, name, 0).Outcome, string(batchv1.JobComplete), name)
}

// wantFailed waits until a Job ends; it must be Failed with this reason.
func wantFailed(t *testing.T, ns, name, reason string) *jobEnd {
	t.Helper()
	end := waitFor(t, ns, name, 3)
	if end.Outcome != string(batchv1.JobFailed) || end.Reason != reason {
		t.Fatalf("%s: %+v", name, end)
	}
	return end
}

// waitFor returns how a Job ends; code is the exit code of `wait`.
func waitFor(t *testing.T, ns, name string, code int) *jobEnd {
	t.Helper()
	var result struct{ Jobs []jobEnd }
	decode(t, want(t, ns, code, nil, "wait", name, "--timeout", untilEnd, "-o", "json"), &result)
	if len(result.Jobs) != 1 {
		t.Fatalf("%s: %+v", name, result)
	}
	return &result.Jobs[0]
}

// explained returns the explanation of a Job.
func explained(t *testing.T, ns, name string) *explain.Report {
	t.Helper()
	report := &explain.Report{}
	decode(t, want(t, ns, 0, nil, "why", name, "-o", "json"), report)
	return report
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	assert.NoError(t, json.Unmarshal([]byte(text), into), text)
}

// wantPage checks that the page on a finished Job shows all evidence and advice of its report, and returns the page.
func wantPage(t *testing.T, ns string, report *explain.Report) string {
	t.Helper()
	var parts []string
	for _, e := range report.Evidence {
		parts = append(parts, wording.Sentence(e.Text))
		for _, line := range e.Lines {
			parts = append(parts, "│ "+line)
		}
	}
	for _, a := range report.Advice {
		parts = append(parts, wording.Sentence(a.Text))
	}
	return want(t, ns, 0, parts, "why", report.Job.Name, "--full")
}

// exitOf matches the evidence of a container's exit.
func exitOf(container string, code int32) func(*explain.Evidence) bool {
	return func(e *explain.Evidence) bool {
		return e.Kind == explain.EvidenceContainer && e.Container == container && e.ExitCode != nil && *e.ExitCode == code
	}
}

// wantEvidence checks that a link of the chain of evidence matches.
func wantEvidence(t *testing.T, report *explain.Report, what string, matches func(*explain.Evidence) bool) {
	t.Helper()
	for i := range report.Evidence {
		if matches(&report.Evidence[i]) {
			return
		}
	}
	t.Errorf("the evidence lacks %s: %+v", what, report.Evidence)
}

// untilProblem waits until the explanation of a Job has a problem of a kind, and returns the problem.
func untilProblem(t *testing.T, ns, name string, kind explain.ProblemKind) (found *explain.Problem) {
	t.Helper()
	eventually(t, "a problem of kind "+string(kind), func(context.Context) bool {
		problems := explained(t, ns, name).Problems
		at := slices.IndexFunc(problems, func(p explain.Problem) bool { return p.Kind == kind })
		if at >= 0 {
			found = &problems[at]
		}
		return found != nil
	})
	return found
}

// tail returns the last n lines.
func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }
