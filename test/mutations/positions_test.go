package mutations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/lint"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// finding is what the test reads of a LintResult.
type finding struct {
	Line     int
	Severity string
	Message  string
	ID       string
}

// linted returns the findings about a manifest.
func linted(t *testing.T, text string) []finding {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(text), Out: &out, ErrOut: &errOut}
	//nolint:errcheck // findings are errors, too
	_ = clitest.ProgramOf(lint.NewCommand).Execute(t.Context(), []string{"lint", "-f", "-", "-o", "json"}, streams, clitest.NewEnv())
	var result struct{ Findings []finding }
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v in %q, %q", err, out.String(), errOut.String())
	}
	return result.Findings
}

func TestX(t *testing.T) {
	manifests, err := Manifests("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	all := All(manifests)
	fmt.Println(len(manifests), len(all))
	base := map[string][]finding{}
	for _, m := range manifests { base[m.Name] = linted(t, m.Text) }
	reported, right := map[string]int{}, map[string]int{}
	var n, ok, none int
	for i, m := range all {
		if i % 4 != 0 { continue }
		found := linted(t, m.Text)
		found = slices.DeleteFunc(found, func(f finding) bool { for _, b := range base[m.Manifest] { if b.ID == f.ID && b.Message == f.Message { return true } }; return false })
		if len(found) == 0 { none++; continue }
		if m.Missing { continue }
		n++
		reported[m.Kind]++
		if slices.ContainsFunc(found, func(f finding) bool { return f.Line == m.Line }) { ok++; right[m.Kind]++; continue }
		fmt.Printf("%s:%d %s\n  was %q\n  is  %q\n", m.Manifest, m.Line, m.Kind, m.Was, m.Is)
		for _, f := range found { fmt.Printf("    %d %s %s [%s]\n", f.Line, f.Severity, f.Message, f.ID) }
	}
	for k, v := range reported { fmt.Println(k, right[k], v) }
	fmt.Println("reported", n, "right", ok, float64(ok)/float64(n), "none", none)
}
