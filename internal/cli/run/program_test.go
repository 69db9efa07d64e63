package run

import "github.com/batchjob-dev/kubectl-batchjob/test/clitest"

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand)
