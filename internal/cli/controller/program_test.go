package controller

import "github.com/batchjob-dev/kubectl-batchjob/internal/cli/clitest"

// program is the command line that tests run.
var program = clitest.ProgramOf(NewCommand)
