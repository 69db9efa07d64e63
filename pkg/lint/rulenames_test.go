package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The fix depends on the problem.
// Requirements: PFN-16, PFN-17, PFN-18, PFN-19, PFN-20
func TestFixFitsTheIllegalName(t *testing.T) {
	two := base + "  managedBy: batchjob.dev/controller\n  " + rules + exit("FailJob", "operator: In, values: [1]") + another + exit("Count", "operator: In, values: [2]")
	for name, want := range map[string]string{
		"A": "give each rule its own name", "0": "use a name that is not a number, such as OutOfMemory", "a,": "leave out the last character",
		strings.Repeat("A", 112): "choose a shorter name", "FailedIndexes": "choose another name", "a-b": "use letters and digits in CamelCase, such as OutOfMemory",
	} {
		got := Check(Input{Object: read(t, two), Names: rulename.Names{"A", name}})
		if len(got) != 1 || got[0].ID != "rule-name-invalid" || got[0].Fix != want {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}

// Names that could not all be read are not reported as different from the annotation.
// Requirements: PFN-24
func TestNamesThatWereNotReadDoNotDiffer(t *testing.T) {
	object := strings.Replace(base, "{name: a}", "{name: a, annotations: {"+rulename.Annotation+": 0=A;1=B}}", 1) + "  managedBy: batchjob.dev/controller\n  " +
		rules + exit("FailJob", "operator: In, values: [1]") + another + exit("Count", "operator: In, values: [2]")
	for _, incomplete := range []bool{false, true} {
		got := Check(Input{Object: read(t, object), Names: rulename.Names{"", "B"}, Incomplete: incomplete})
		assert.Equal(t, len(got) == 0, incomplete, "incomplete")
	}
}

// If there are more rules than allowed, they are only counted, not compared with each other: that would take hours
// (PFN-29).
// Requirements: PFP-12, SUC-02
func TestRulesBeyondTheLimitAreNotCompared(t *testing.T) {
	var list, success strings.Builder
	names := make(rulename.Names, 20_000)
	for i := range names {
		list.WriteString(another + exit("Retry", fmt.Sprintf("operator: NotIn, values: [%d]", i+1)))
		success.WriteString("{succeededCount: 9},")
		names[i] = fmt.Sprintf("a%d-", i)
	}
	object := base + "  " + indexed + "podFailurePolicy:\n    rules:" + list.String() + "\n  successPolicy: {rules: [" + success.String() + "]}"
	want := []string{"!error too-many-rules spec.podFailurePolicy.rules", "!error too-many-success-rules spec.successPolicy.rules"}
	assert.SlicesEqual(t, look(t, object, names), want)
}
