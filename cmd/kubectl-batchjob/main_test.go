package main

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const runMain = "BATCHJOB_TEST_RUN_MAIN"

// TestMain runs the program itself in the processes that tests start.
func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// The exit code names the signal that ended a verb, as in a shell.
func TestExitCodeOfSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		program := exec.CommandContext(t.Context(), os.Args[0], "status", "--server", "http://"+silent.Addr().String())
		program.Env = append(os.Environ(), runMain+"=1", "KUBECONFIG="+t.TempDir()+"/none")
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		connection, err := silent.Accept() // of its request, which gets no answer
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := program.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = program.Wait()
		if got := program.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d", signal, got, want)
		}
	}
}
