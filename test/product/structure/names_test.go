package structure

import (
	"go/ast"
	"regexp"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The name of a test is the behavior that it tests; ids of requirements are in its comment.
func TestNamesOfTestsAreBehavior(t *testing.T) {
	tests := 0
	for path, file := range code(t, everything...) {
		for _, declaration := range file.Decls {
			f, isFunc := declaration.(*ast.FuncDecl)
			if !isTest(path) || !isFunc || f.Recv != nil || !testName.MatchString(f.Name.Name) {
				continue
			}
			tests++
			assert.Equalf(t, problemOfName(f.Name.Name), "", "%s: %s", path, f.Name.Name)
		}
	}
	if tests < 1000 {
		t.Errorf("only %d tests", tests)
	}
}

var (
	testName      = regexp.MustCompile(`^(Test|Fuzz|Benchmark)([A-Z_]|$)`)
	idInName      = regexp.MustCompile(`[A-Z]{3}_?[0-9]{2}`)
	dialectInName = regexp.MustCompile(`Tells?([A-Z_]|$)|Said|Says`)
)

// problemOfName returns what is wrong with the name of a test, or "".
func problemOfName(name string) string {
	switch {
	case idInName.MatchString(name):
		return `has an id: put it into the comment, as in "// Requirements: JOB-39"`
	case dialectInName.MatchString(name):
		return "has a verb of speech: say what is printed, shown or returned"
	}
	return ""
}

// The rule finds ids and verbs of speech, and leaves other names alone.
func TestProblemOfName(t *testing.T) {
	for name, wrong := range map[string]bool{
		"TestGeneratedNameKeepsTheIndex_JOB_39": true, "TestFixFitsTheIllegalName_PFN_16_to_20": true, "TestFollow_CLI_07_rows": true,
		"TestPoliciesTellOfReplacement": true, "TestSaidIsBounded": true, "TestListSaysWhyJobsFail": true,
		"TestGeneratedNameKeepsTheIndex": false, "TestBeside_Leader": false, "TestHTTP2IsUsed": false, "TestTelltale": false, "TestExit137": false,
	} {
		assert.Equal(t, (problemOfName(name) != ""), wrong, name)
	}
}
