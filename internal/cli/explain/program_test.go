package explain

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/status"
)

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand, status.NewCommand)
