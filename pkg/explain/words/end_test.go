package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Every way in which Jobs end has a row, with a sentence if the Job fails.
func TestEveryEndHasWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../end.go", nil, 0)
	assert.NoError(t, err)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		of, known := ends[explain.EndedBy(value)]
		succeeds := value == string(explain.EndedBySuccessPolicy) || value == string(explain.EndedByCompletions)
		if found++; !known || !succeeds && of.headline == nil && of.sentence == nil {
			t.Errorf("no words for %s", value)
		}
		return true
	})
	assert.Equal(t, found, len(ends), "kinds and rows")
}
