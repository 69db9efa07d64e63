package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

const runMain = "BATCHJOB_TEST_RUN_MAIN"

// TestMain runs the program itself in the child processes that tests start.
func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// The exit code encodes the signal that ended a verb, as in a shell.
func TestExitCodeOfSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		assert.NoError(t, err)
		defer silent.Close()
		program := exec.CommandContext(t.Context(), os.Args[0], "status", "--server", "http://"+silent.Addr().String())
		program.Env = append(os.Environ(), runMain+"=1", "KUBECONFIG="+t.TempDir()+"/none")
		assert.NoError(t, program.Start())
		connection, err := silent.Accept() // the verb's connection, whose request gets no response
		assert.NoError(t, err)
		defer connection.Close()
		assert.NoError(t, program.Process.Signal(signal))
		_ = program.Wait()
		assert.Equalf(t, program.ProcessState.ExitCode(), want, "%s: exit code", signal)
	}
}

func bundle(t *testing.T, api *clitest.Objects, file string) *exec.Cmd {
	t.Helper()
	program := exec.CommandContext(t.Context(), os.Args[0], "bundle", "train", "-f", file)
	program.Env = append(os.Environ(), runMain+"=1", "KUBECONFIG="+clitest.WriteKubeconfig(t, api.API.URL()))
	return program
}

// bundling starts a bundle, and returns the process while it waits for a pod's log that never arrives.
func bundling(t *testing.T, file string) *exec.Cmd {
	t.Helper()
	api := clitest.NewExplained(t)
	reading, once := make(chan struct{}), sync.Once{}
	api.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/log") {
			once.Do(func() { close(reading) })
			<-r.Context().Done()
		}
		return nil
	})
	program := bundle(t, api, file)
	assert.NoError(t, program.Start())
	<-reading
	return program
}

// Ctrl-C in the middle of a bundle leaves no file behind.
// Requirements: BUN-03
func TestInterruptedBundleLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		program := bundling(t, filepath.Join(folder, "train.tar.gz"))
		assert.NoError(t, program.Process.Signal(signal))
		_ = program.Wait()
		assert.Equalf(t, program.ProcessState.ExitCode(), want, "%s: exit code", signal)
		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("%s: files %v, %v", signal, left, err)
		}
	}
}

// A reader that closes the pipe, as head does, ends the program.
// Requirements: BUN-03
func TestBundleIntoAClosedPipe(t *testing.T) {
	read, write, err := os.Pipe()
	assert.NoError(t, err)
	defer write.Close()
	assert.NoError(t, read.Close())
	program := bundle(t, clitest.NewExplained(t), "-")
	program.Stdout = write
	if err := program.Run(); err == nil {
		t.Error("exit code 0")
	}
}
