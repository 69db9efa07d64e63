package simulate

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// BenchmarkManyIndexes simulates a Job with 100,000 indexes to its end (SIM-06).
//
//	go test ./internal/cli/simulate -run '^$' -bench ManyIndexes -benchtime 1x
func BenchmarkManyIndexes(b *testing.B) {
	file := filepath.Join(b.TempDir(), "job.yaml")
	const manifest = `{apiVersion: batch/v1, kind: Job, metadata: {name: big}, spec: {completionMode: Indexed,
  completions: 100000, parallelism: 10000, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}`
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
		if err := program.Execute(context.Background(), []string{"simulate", "-f", file}, streams, clitest.NewEnv()); err != nil {
			b.Fatal(err)
		}
	}
}
