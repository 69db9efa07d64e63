package create

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/lint"
)

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand, lint.NewCommand)
