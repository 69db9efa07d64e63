package sim_test

import (
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

func TestMain(m *testing.M) { scenario.Main(m) }

func replayAll(t *testing.T, do func(scenario.Replay, *testing.T)) {
	for _, file := range scenario.Files(t, "testdata/scenarios") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := scenario.ReadReplay(t, file)
			if r.Off != "" {
				t.Skip(r.Off)
			}
			do(r, t)
		})
	}
}
