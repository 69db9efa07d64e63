package lint

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/create"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand, create.NewCommand)

// linted checks a manifest, whose path is PATH in the result.
func linted(t *testing.T, text string, args ...string) clitest.Result {
	t.Helper()
	return program.RunOn(t, text, "lint", args...)
}
