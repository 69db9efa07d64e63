package text

import (
	"bytes"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Issue 6.4: the lines for the interactive view say what the printed explanation does.
func TestLinesSayWhatIsPrinted(t *testing.T) {
	for _, o := range []Options{{Width: 80}, {Width: 60, ASCII: true}, {Width: 120, Full: true}} {
		r := explain.Report{
			Job:     explain.Job{Namespace: "ns", Name: "hostile\x1b[2J", CompletionMode: "NonIndexed"},
			Verdict: explain.Verdict{Status: "Failed", Fate: explain.FateFailed, Sentence: "It failed, because of \r\u202esomething long enough to be wrapped on a narrow terminal."},
			Causes:  []explain.Cause{{Text: "Container main exited", Count: 3, Pods: []string{"a", "b"}}},
			Advice:  []explain.Advice{{Text: "Look at it", Command: "kubectl logs a"}},
		}
		var printed bytes.Buffer
		if err := Explanation(&printed, r, o); err != nil {
			t.Fatal(err)
		}
		var drawn strings.Builder
		for _, l := range ExplanationLines(r, o) {
			drawn.WriteString(strings.TrimRight(l.String(), " ") + "\n")
		}
		if drawn.String() != printed.String() {
			t.Errorf("%+v: drawn\n%s\nprinted\n%s", o, drawn.String(), printed.String())
		}
		if strings.ContainsAny(drawn.String(), "\x1b\r\u202e") {
			t.Errorf("not safe: %q", drawn.String())
		}
	}
}
