package problems

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Requirements: RUN-15
func TestMayContinue(t *testing.T) {
	for name, c := range map[string]struct {
		problem explain.Problem
		want    bool
	}{
		"gated":              {problem: explain.Problem{Kind: explain.ProblemSchedulingGated}, want: true},
		"full nodes":         {problem: explain.Problem{Kind: explain.ProblemUnschedulable, Details: []string{"0/3 nodes are available: 3 Insufficient cpu."}}, want: true},
		"full of pods":       {problem: explain.Problem{Kind: explain.ProblemUnschedulable, Details: []string{"0/1 nodes are available: 1 Too many pods."}}, want: true},
		"no such node":       {problem: explain.Problem{Kind: explain.ProblemUnschedulable, Details: []string{"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."}}},
		"quota":              {problem: explain.Problem{Kind: explain.ProblemCreationRefused, Reason: explain.RefusalQuota}, want: true},
		"policy":             {problem: explain.Problem{Kind: explain.ProblemCreationRefused, Reason: explain.RefusalPolicy}},
		"counted restarts":   {problem: explain.Problem{Kind: explain.ProblemCrashLoop}, want: true},
		"uncounted restarts": {problem: explain.Problem{Kind: explain.ProblemCrashLoop, Uncounted: true}},
		"image":              {problem: explain.Problem{Kind: explain.ProblemImagePull}},
		"no controller":      {problem: explain.Problem{Kind: explain.ProblemNotReconciled}},
		"slow start":         {problem: explain.Problem{Kind: explain.ProblemPodPending, Node: "n"}, want: true},
		"volume":             {problem: explain.Problem{Kind: explain.ProblemPodPending, Node: "n", Reason: "FailedMount"}},
	} {
		if got := MayContinue(&c.problem); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
