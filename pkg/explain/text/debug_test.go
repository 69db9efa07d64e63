package text

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: FCT-12
func TestDebugCommandIsInShortAnswersOnly(t *testing.T) {
	r := explain.Report{
		Job:     explain.Job{Namespace: "ns", Name: "train"},
		Verdict: explain.Verdict{Status: "Failed", Outcome: reconcile.OutcomeFailed, State: "failed"},
		Causes:  []explain.Cause{{Ended: explain.Ended{Silent: true}}},
		Advice: []explain.Advice{
			{Kind: explain.AdviceLogs, Text: "read the whole log", Command: "kubectl logs train-a -n ns"},
			{Kind: explain.AdviceDebug, Text: "debug it", Command: "kubectl debug train-a -it --copy-to=train-a-debug --container=main -n ns -- sh"},
			{Kind: explain.AdviceRerun, Text: "rerun it", Command: "kubectl batchjob retry train -n ns"},
		},
	}
	linesOf := func(r explain.Report) (lines []string) {
		for _, l := range ShortLines(r, Options{Width: 80, Namespace: "ns"}) {
			lines = append(lines, strings.TrimRight(l.String(), " "))
		}
		return lines
	}
	const want = "Logs   kubectl logs train-a\nDebug  kubectl debug train-a -it --copy-to=train-a-debug --container=main -- sh\nThen   Rerun it\n       $ kubectl batchjob retry train\n"
	assert.Contains(t, strings.Join(linesOf(r), "\n")+"\n", want)
	r.Causes[0].Silent = false
	assert.NotContains(t, strings.Join(linesOf(r), "\n"), "debug", "it says why")
	r.Causes[0].Silent = true
	for range 8 {
		r.Problems = append(r.Problems, explain.Problem{Text: strings.Repeat("a long text of a problem ", 12)})
	}
	if got := linesOf(r); len(got) <= shortPage || strings.Contains(strings.Join(got, "\n"), "debug") {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
}
