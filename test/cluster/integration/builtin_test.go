//go:build builtin

package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// builtin is a real kube-controller-manager that runs beside our controller.
type builtin struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   *leash.Output
	ended chan struct{}
}

// startBuiltin runs only the named controllers. They work on all namespaces: a test that uses them must not run in
// parallel with others.
func startBuiltin(t *testing.T, controllers ...string) *builtin {
	t.Helper()
	program, err := apiServer.Leash.Hold(filepath.Join(apiServer.Binaries, "kube-controller-manager"))
	assert.NoError(t, err)
	b := &builtin{t: t, log: &leash.Output{}, ended: make(chan struct{})}
	b.cmd = exec.Command(program,
		"--kubeconfig="+adminKubeconfig(t),
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--bind-address=127.0.0.1", "--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=500",
	)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	assert.NoError(t, b.cmd.Start(), "starting kube-controller-manager")
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait() // It reports the signal that stopped it.
	}()
	t.Cleanup(b.stop)
	return b
}

func (b *builtin) stop() {
	err := b.cmd.Process.Signal(os.Interrupt)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		b.t.Errorf("stopping kube-controller-manager: %v", err)
	}
	select {
	case <-b.ended:
	case <-time.After(patience):
		_ = b.cmd.Process.Kill()
		b.t.Error("kube-controller-manager does not stop")
	}
	if b.t.Failed() {
		b.t.Logf("log of kube-controller-manager:\n%s", b.log)
	}
}
