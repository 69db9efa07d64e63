//go:build builtin

package beside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// shared is the cluster of all pairs.
var shared *cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := leash.InParallel("24"); err != nil {
		return complain(err)
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		return complain(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	shared, err = startCluster(ctx, root)
	defer func() {
		cancel() // The API server stops when its watches have ended.
		if err := shared.stop(); err != nil {
			complain(err)
		}
	}()
	if err != nil {
		return complain(err)
	}
	return m.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "beside:", err)
	return 1
}
