package mutations

import (
	"bytes"
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/lint"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// oneOf is n if a run checks one of n mutations: all of them take half a minute.
var oneOf = flag.Int("one-of", 14, "check one of so many mutations")

// finding has the fields of a LintResult that the test reads.
type finding struct {
	Line        int
	ID, Message string
}

// linted returns the findings about a manifest.
func linted(t *testing.T, text string) []finding {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(text), Out: &out, ErrOut: &errOut}
	err := clitest.ProgramOf(lint.NewCommand).Execute(t.Context(), []string{"lint", "-f", "-", "-o", "json"}, streams, clitest.NewEnv())
	var result struct{ Findings []finding }
	if json.Unmarshal(out.Bytes(), &result) != nil {
		t.Fatalf("%v; %q, %q", err, out.String(), errOut.String())
	}
	return result.Findings
}

// tally counts the reported mutations of a kind, and those reported in the right line.
type tally struct{ reported, right int }

func (s *tally) add(right bool) {
	s.reported++
	if right {
		s.right++
	}
}

// For at least 99 % of the reported mistakes, and 90 % of each kind, a finding is in the line of the mistake.
// Requirements: LNT-07
func TestLinesOfMistakesAreReported(t *testing.T) {
	manifests, err := Manifests("../../../examples")
	assert.NoError(t, err)
	known := map[string][]finding{} // findings in the manifest without a mistake
	for _, m := range manifests {
		known[m.Name] = linted(t, m.Text)
	}
	var total tally
	kinds := map[string]*tally{}
	for i, m := range All(manifests) {
		if i%*oneOf != 0 || m.Missing {
			continue
		}
		found := slices.DeleteFunc(linted(t, m.Text), func(f finding) bool {
			return slices.ContainsFunc(known[m.Manifest], func(k finding) bool { return k.ID == f.ID && k.Message == f.Message })
		})
		if len(found) == 0 {
			continue
		}
		right := slices.ContainsFunc(found, func(f finding) bool { return f.Line == m.Line })
		if !right {
			t.Logf("%s:%d: %s\n%s\n%s\nfound %+v", m.Manifest, m.Line, m.Kind, m.Was, m.Is, found)
		}
		if kinds[m.Kind] == nil {
			kinds[m.Kind] = &tally{}
		}
		total.add(right)
		kinds[m.Kind].add(right)
	}
	t.Logf("the line of %d of %d mistakes is reported", total.right, total.reported)
	if total.reported < 1000 || total.right*100 < total.reported*99 {
		t.Errorf("the line of %d of %d mistakes is reported, fewer than 99 %% of 1000", total.right, total.reported)
	}
	for kind, k := range kinds {
		if k.reported >= 10 && k.right*10 < k.reported*9 {
			t.Errorf("%s: the line of %d of %d", kind, k.right, k.reported)
		}
	}
}

// Requirements: LNT-07
func TestManifestsHaveNoMistakes(t *testing.T) {
	manifests, err := Manifests()
	assert.NoError(t, err)
	for _, m := range manifests {
		for _, f := range linted(t, m.Text) {
			assert.Equalf(t, f.ID, "log-lost-at-limit", "%s: %+v", m.Name, f)
		}
	}
}
