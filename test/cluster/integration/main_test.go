package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/apiserver"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// apiServer is shared by all tests.
var apiServer *apiserver.Server

// serverGates are the feature gates of the API server. It serves spec.schedulingGroup of pods and templates, and
// spec.scheduling of Jobs (JOB-64), and filters lists and watches by shard (SHD-06).
const serverGates = "GenericWorkload=true,WorkloadWithJob=true,ShardedListAndWatch=true"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := leash.InParallel("16"); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	var err error
	if apiServer, err = apiserver.Start(filepath.Join("..", "..", ".."), serverGates); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	defer func() {
		if err := apiServer.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "integration: stopping the API server:", err)
		}
	}()
	return m.Run()
}
