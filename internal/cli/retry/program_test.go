package retry

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand, wait.NewCommand)
