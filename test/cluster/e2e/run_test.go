package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/junitcheck"
)

// ciJob writes a Job with four indexes and annotations for the simulated nodes, and returns the file.
func ciJob(t *testing.T, annotations string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	text := fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: ci}
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  backoffLimitPerIndex: 0
  template:
    metadata: {annotations: {%s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
`, annotations)
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func readReport(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NoError(t, err)
	assert.NoError(t, junitcheck.Check(strings.NewReader(string(data))), data)
	return string(data)
}

// Issue 18: run on a real control plane, with our controller and with the built-in one: success, and a failure that
// remains after a retry, with a report. The simulated nodes have no logs, which does not end the run.
// Requirements: RUN-01, RUN-02, RUN-09
func TestRunJobsInCI(t *testing.T) {
	t.Parallel()
	for _, managedBy := range []string{"batchjob.dev/controller", ""} {
		ns, report := namespace(t), filepath.Join(t.TempDir(), "report.xml")
		args := []string{"--kubeconfig", kubeconfig, "-n", ns, "--managed-by=" + managedBy, "--junit", report, "--timeout=80s"}
		good := kubectlBatchjob(t, append([]string{"run", "-f", ciJob(t, ""), "--rm"}, args...)...)
		if good.Code != 0 || !strings.Contains(good.ErrOut, "job.batch/ci Complete in ") || !strings.Contains(good.ErrOut, "Deleted job.batch/ci.\n") {
			t.Errorf("exit %d, %s", good.Code, good.ErrOut)
		}
		assert.Contains(t, readReport(t, report), `tests="4" failures="0" errors="0" skipped="0"`)
		untilGone(t, ns, "ci")
		bad := kubectlBatchjob(t, append([]string{"run", "-f", ciJob(t, `kwok.batchjob.dev/exit-code.2: "42"`), "--retry=1"}, args...)...)
		if bad.Code != 3 || !strings.Contains(bad.ErrOut, "job.batch/ci-retry-1 created (retry 1 of 1). It runs index 2;") || !strings.Contains(bad.ErrOut, "✗ ci-retry-1 failed after ") {
			t.Errorf("exit %d, %s", bad.Code, bad.ErrOut)
		}
		if text := readReport(t, report); !strings.Contains(text, `tests="4" failures="1" errors="0" skipped="0"`) || !strings.Contains(text, "exited with code 42") {
			t.Errorf("%s", text)
		}
	}
}

func untilGone(t *testing.T, ns, name string) {
	t.Helper()
	eventually(t, "no Job "+name, func(ctx context.Context) (bool, error) {
		_, err := client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
