package docgen

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// CLI-04: every field of a JobExplanation is described, and every value of its words.
func TestFieldsAndValuesAreDescribed(t *testing.T) {
	text, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Report", "ReportList")
	assert.NoError(t, err)
	for _, want := range []string{
		"## Report\n", "## ReportList\n", "## Verdict\n", "## IndexInfo\n",
		"| `verdict` | [Verdict](#verdict) |",
		"| `pods` | list of [PodInfo](#podinfo) | Pods are the pods of the Job",
		"| `kind` | [ProblemKind](#problemkind) |",
		"| `CreationRefused` | quota, admission, RBAC: FailedCreate |",
		"| `Open` | nothing is decided |",
		"| `until` | time |",
	} {
		assert.Contains(t, text, want, "there is no")
	}
	for name, times := range map[string]int{"\n## Cause\n": 1, "container string": 0, "| `` |": 0} {
		assert.Equalf(t, strings.Count(text, name), times, "%q is there", name)
	}
}

func TestUnknownTypeIsAnError(t *testing.T) {
	if _, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Rapport"); err == nil {
		t.Error("a type that does not exist is described")
	}
}
