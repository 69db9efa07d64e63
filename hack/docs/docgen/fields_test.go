package docgen

import (
	"strings"
	"testing"
)

// CLI-04: every field of a JobExplanation is described, and every value of its words.
func TestFieldsAndValuesAreDescribed(t *testing.T) {
	text, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Report", "ReportList")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## Report\n", "## ReportList\n", "## Verdict\n", "## IndexInfo\n",
		"| `verdict` | [Verdict](#verdict) |",
		"| `pods` | list of [PodInfo](#podinfo) | Pods are the pods of the Job",
		"| `kind` | [ProblemKind](#problemkind) |",
		"| `CreationRefused` | quota, admission, RBAC: FailedCreate |",
		"| `Open` | nothing is decided |",
		"| `until` | time |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
	for name, times := range map[string]int{"\n## Cause\n": 1, "container string": 0, "| `` |": 0} {
		if n := strings.Count(text, name); n != times {
			t.Errorf("%q is there %d times", name, n)
		}
	}
}

func TestUnknownTypeIsAnError(t *testing.T) {
	if _, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Rapport"); err == nil {
		t.Error("a type that does not exist is described")
	}
}
