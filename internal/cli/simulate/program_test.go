package simulate

import "github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand)
