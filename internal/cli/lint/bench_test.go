package lint

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// BenchmarkManyJobs checks 5,000 Jobs in one file, which should take less than 0.6 s on an idle machine.
//
//	go test ./internal/cli/lint -run '^$' -bench ManyJobs -benchtime 5x -benchmem
func BenchmarkManyJobs(b *testing.B) {
	var manifests strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&manifests, `---
apiVersion: batch/v1
kind: Job
metadata: {name: job-%d, namespace: ns1, labels: {app: batch}}
spec:
  backoffLimit: 3
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/batch:1
        command: [sh, -c, echo hello]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
`, i)
	}
	file := filepath.Join(b.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte(manifests.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
		if err := program.Execute(context.Background(), []string{"lint", "-f", file}, streams, clitest.NewEnv()); err != nil {
			b.Fatal(err)
		}
	}
}
