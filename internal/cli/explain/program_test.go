package explain

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/status"
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand, status.NewCommand)
