package lint

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/create"
)

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand, create.NewCommand)
