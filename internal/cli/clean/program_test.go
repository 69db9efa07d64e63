package clean

import (
	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand)
