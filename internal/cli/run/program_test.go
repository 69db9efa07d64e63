package run

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand)

func TestTranscripts(t *testing.T) { program.Transcripts(t) }
