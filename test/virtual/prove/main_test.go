package prove

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

func TestMain(m *testing.M) { scenario.Main(m) }
