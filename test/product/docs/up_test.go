//go:build linux

package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

const oneJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: default}
spec:
  managedBy: batchjob.dev/controller
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: none}]
`

// Two runs of `make up` at the same moment start one controller. After a crash of the control plane, the next `make up`
// replaces it and the old controller, which still connects to the old port.
func TestUpAfterACrashReplacesTheController(t *testing.T) {
	dir := t.TempDir()
	script := func(name string) string {
		t.Helper()
		got, err := command.Run(t.Context(), 3*time.Minute, "", "env", "CLUSTER_DIR="+dir, filepath.Join(shared.root, "hack", name))
		if err != nil || got.Code != 0 {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
		return got.Out
	}
	completes := func(job string) {
		t.Helper()
		kubectl := filepath.Join(shared.binaries, "kubectl")
		for _, args := range [][]string{{"create", "-f", "-"}, {"wait", "-n", "default", "job/" + job, "--for=condition=Complete", "--timeout=60s"}} {
			got, err := command.Run(t.Context(), 90*time.Second, strings.ReplaceAll(oneJob, "NAME", job), kubectl, append(args, "--kubeconfig", filepath.Join(dir, "kubeconfig"))...)
			if err != nil || got.Code != 0 {
				controller, _ := os.ReadFile(filepath.Join(dir, "controller.log"))
				t.Fatalf("kubectl %v: %v, %+v; the controller's log:\n%s", args, err, got, controller)
			}
		}
	}
	hold, err := leash.New(shared.root, dir)
	assert.NoError(t, err)
	t.Cleanup(func() {
		out, err := exec.Command("env", "CLUSTER_DIR="+dir, filepath.Join(shared.root, "hack", "down.sh")).CombinedOutput()
		if err = errors.Join(err, hold.Release()); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})

	// Two runs at the same moment start one controller; the second run waits for it.
	outs := make(chan string)
	for range 2 {
		go func() { outs <- script("up.sh") }()
	}
	if both := <-outs + <-outs; strings.Count(both, "The controller is running") != 1 || strings.Count(both, "already running") != 1 {
		t.Errorf("two at once printed: %s", both)
	}
	completes("before")
	assert.Contains(t, script("up.sh"), "already running", "with both running, up printed")
	if out, err := exec.Command("pkill", "-KILL", "-f", "kube-apiserver.*="+dir+"/").CombinedOutput(); err != nil {
		t.Fatalf("killing the API server: %v %s", err, out)
	}
	assert.NotContains(t, script("up.sh"), "already running", "after the crash, up printed")
	completes("after")
}
