//go:build unix

package troubles

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// program creates a program that runs until it is ended.
func program(t *testing.T, dir, name string) {
	t.Helper()
	shell, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(dir, name)
	assert.NoError(t, os.WriteFile(file, shell, 0o755))
	cmd := exec.Command(file, "30")
	assert.NoError(t, cmd.Start())
	go func() { _ = cmd.Wait() }()
	t.Cleanup(func() {
		if pid, _, err := find(dir, name); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	eventually(t, func() bool { _, _, err := find(dir, name); return err == nil })
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	assert.NoError(t, err)
}

// A stopped component stays away until it is started with more flags; a component that ends by itself is restarted
// (SOK-01).
func TestComponentsEndAndComeBack(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	program(t, dir, Etcd)
	program(t, dir, APIServer)
	c, err := FindComponents(dir, dir, Etcd, APIServer)
	assert.NoError(t, err)
	assert.NoError(t, c.Stop(ctx, Etcd, syscall.SIGKILL))
	if _, _, err := find(dir, Etcd); err == nil {
		t.Error("it runs after Stop")
	}
	crashed := make(chan string, 10)
	keeping, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Keep(keeping, func(name string) { crashed <- name })
	}()
	pid, _, _ := find(dir, APIServer)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	assert.Equal(t, <-crashed, APIServer, "Keep has started")
	eventually(t, func() bool { _, _, err := find(dir, APIServer); return err == nil })
	if _, _, err := find(dir, Etcd); err == nil {
		t.Error("what was ended came back by itself")
	}
	cancel()
	<-ended
	assert.NoError(t, c.Start(Etcd, "1"))
	eventually(t, func() bool {
		_, args, err := find(dir, Etcd)
		return err == nil && slices.Equal(args[1:], []string{"30", "1"})
	})
	assert.NoError(t, c.Restart(ctx, Etcd, "2"))
	eventually(t, func() bool {
		_, args, err := find(dir, Etcd)
		return err == nil && slices.Equal(args[1:], []string{"30", "2"})
	})
}

func TestFlagsOfComponents(t *testing.T) {
	t.Parallel()
	c := &Components{args: map[string][]string{APIServer: {"x", "--etcd-servers=http://127.0.0.1:1", "--etcd-prefix=/registry"}}}
	assert.Equal(t, c.Flag(APIServer, "etcd-servers")+c.Flag(APIServer, "etcd"), "http://127.0.0.1:1")
	if _, err := FindComponents(t.TempDir(), t.TempDir(), Etcd); err == nil || !strings.Contains(err.Error(), "no process etcd") {
		t.Errorf("%v", err)
	}
}
