package retry

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand, wait.NewCommand)

func TestTranscripts(t *testing.T) { program.Transcripts(t) }
