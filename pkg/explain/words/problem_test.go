package words

import (
	"os"
	"regexp"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-06
func TestEachKindOfProblemHasWords(t *testing.T) {
	source, err := os.ReadFile("../problem.go")
	assert.NoError(t, err)
	kinds := regexp.MustCompile(`\bProblemKind = "(\w+)"`).FindAllSubmatch(source, -1)
	if len(kinds) == 0 || len(kinds) != len(problems) {
		t.Errorf("there are %d kinds, and words for %d", len(kinds), len(problems))
	}
	for _, kind := range kinds {
		if problems[explain.ProblemKind(kind[1])].what == nil {
			t.Errorf("package words has no row for problem %s", kind[1])
		}
	}
}
