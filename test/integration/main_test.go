package integration

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/apiserver"
)

// apiServer is the one API server of all tests.
var apiServer *apiserver.Server

// serverGates are the feature gates of the API server. It serves spec.schedulingGroup of pods and templates, and
// spec.scheduling of Jobs (JOB-64), and filters lists and watches by shard (SHD-06).
const serverGates = "GenericWorkload=true,WorkloadWithJob=true,ShardedListAndWatch=true"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if err := waitALot(); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	var err error
	if apiServer, err = apiserver.Start(filepath.Join("..", ".."), serverGates); err != nil {
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

// waitALot runs many tests at once, unless -parallel is set: they mostly wait.
func waitALot() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", "16")
}
