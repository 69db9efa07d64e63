package whatif

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	explainverb "github.com/batchjob-dev/kubectl-batchjob/internal/cli/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// why quotes what-if, and the command in the advice prints the quoted result.
// Requirements: WIF-01
func TestAdviceQuotesWhatIf(t *testing.T) {
	both := clitest.ProgramOf(NewCommand, explainverb.NewCommand)
	for _, name := range []string{"backoff-limit", "backoff-limit.builtin"} {
		o := serveWith(t, name, func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].State.Terminated.ExitCode = 3 })
		got := both.Run(t, o.API, "why", "backoff-limit", "-o", "json")
		var r explain.Report
		assert.NoError(t, json.Unmarshal([]byte(got.Out), &r), got.ErrOut)
		quoted := slices.IndexFunc(r.Advice, func(a explain.Advice) bool { return a.WhatIf != nil })
		if quoted < 0 {
			t.Fatalf("%s: %+v", name, r.Advice)
		}
		advice := r.Advice[quoted]
		command := strings.ReplaceAll(advice.Command, "'", "")
		got = both.Run(t, o.API, append(strings.Fields(command)[2:], "-o", "json")...)
		var c whatif.Comparison
		assert.NoError(t, json.Unmarshal([]byte(got.Out), &c), command, got.ErrOut)
		want := explain.WhatIf{
			Text:      "with a FailJob rule on exit code 3, this Job would have failed after 1.3s instead of 12s and saved 1.3s of pod time",
			Condition: c.New.Outcome.Type, Reason: c.New.Outcome.Reason, Seconds: c.New.Seconds, ActualSeconds: c.Actual.Seconds,
			PodSecondsSaved: 1.3, PodsStarted: c.New.PodsStarted, PodsEstimated: c.New.PodsEstimated,
		}
		assert.Equal(t, *advice.WhatIf, want, name, advice.WhatIf)
		got = both.Run(t, o.API, "why", "backoff-limit")
		if text := strings.Join(strings.Fields(got.Out), " "); !strings.Contains(text, "W"+want.Text[1:]+" $ kubectl batchjob what-if backoff-limit --set") {
			t.Errorf("%s: %s", name, got.Out)
		}
	}
}
