//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// signalCodes are the exit codes of a process that a signal ended, as in a shell.
var signalCodes = map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143}

// interrupted is a process with the command line args, which is interrupted at one moment.
type interrupted struct {
	*exec.Cmd
	errOut string        // a file, because a child may keep a pipe open
	ended  chan struct{} // closed after the end
}

// start starts the program with a cluster that cannot be reached; prepare may change that.
func start(t *testing.T, args string, prepare func(*exec.Cmd)) *interrupted {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clitest.Patience)
	t.Cleanup(cancel)
	errOut, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	assert.NoError(t, err)
	defer errOut.Close()
	p := &interrupted{exec.CommandContext(ctx, os.Args[0], strings.Fields(args)...), errOut.Name(), make(chan struct{})}
	p.Env, p.Stderr = append(os.Environ(), runMain+"=1", "KUBECONFIG="+clitest.WriteKubeconfig(t, "http://127.0.0.1:1")), errOut
	p.Dir = t.TempDir()
	prepare(p.Cmd)
	assert.NoError(t, p.Start())
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	return p
}

// orEnd calls unblock if the process ends before a test has seen that it waits.
func (p *interrupted) orEnd(unblock func()) {
	go func() {
		<-p.ended
		unblock()
	}()
}

// end sends the signal, and checks that the process ends by it, with this message.
func (p *interrupted) end(t *testing.T, signal syscall.Signal, message string) {
	t.Helper()
	assert.NoError(t, p.Process.Signal(signal))
	<-p.ended
	printed, err := os.ReadFile(p.errOut)
	if got := p.ProcessState.ExitCode(); got != signalCodes[signal] || err != nil || string(printed) != message {
		t.Errorf("%s: exit code %d, want %d; stderr %q, want %q, %v", signal, got, signalCodes[signal], printed, message, err)
	}
}

// onEachSignal runs a test for all command lines and both signals; with -short, the signals take turns.
func onEachSignal(t *testing.T, commands []string, test func(t *testing.T, args string, signal syscall.Signal)) {
	t.Helper()
	for i, args := range commands {
		for j, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			if testing.Short() && (i+j)%2 == 1 {
				continue
			}
			t.Run(args+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				test(t, args, signal)
			})
		}
	}
}

// clusterVerbs are command lines of all verbs that ask an API server; JOB is a file.
var clusterVerbs = []string{
	"status", "status train", "status cronjob/nightly", "status -w", "why", "why train", "what-if train --set backoffLimit=1",
	"wait train", "logs train", "logs train -f", "watch --plain", "bundle train", "create -f JOB", "create -f JOB --dry-run=server",
	"run -f JOB", "run -f JOB --on-cancel=delete", "retry train", "retry train --replace", "clean --yes --cascade=background", "simulate -f JOB --from train",
	"controller --metrics-bind-address=0 --health-probe-bind-address=0",
}

// mayBeLeft has the messages of command lines whose first request may have created something.
var mayBeLeft = map[string]string{
	"create -f JOB": "error: the Job may have been created nevertheless; look for it with: kubectl get job a\n",
}

// clusterlessVerbs are the other verbs.
var clusterlessVerbs = []string{"lint", "demo", "completion", "help", "options", "version"}

func withJob(t *testing.T, args string) string {
	t.Helper()
	return strings.ReplaceAll(args, "JOB", clitest.WriteManifest(t, clitest.PlainJob))
}

// Requirements: CLI-73
func TestEveryVerbEndsBySignalsWhileTheServerHangs(t *testing.T) {
	tested := slices.Clone(clusterlessVerbs)
	for _, args := range clusterVerbs {
		tested = append(tested, strings.Fields(args)[0])
	}
	for _, verb := range cli.NewCommand().Commands() {
		if !verb.Hidden && !slices.Contains(tested, verb.Name()) {
			t.Errorf("does %s end by signals?", verb.Name())
		}
	}
	onEachSignal(t, clusterVerbs, func(t *testing.T, args string, signal syscall.Signal) {
		silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		assert.NoError(t, err)
		defer silent.Close()
		kubeconfig := clitest.WriteKubeconfig(t, "http://"+silent.Addr().String())
		p := start(t, withJob(t, args), func(program *exec.Cmd) { program.Env = append(program.Env, "KUBECONFIG="+kubeconfig) })
		p.orEnd(func() { _ = silent.Close() })
		connection, err := silent.Accept() // the verb's connection, whose request gets no response
		assert.NoError(t, err)
		defer connection.Close()
		p.end(t, signal, mayBeLeft[args])
	})
}

// A credential plugin that waits for the user does not know the verb's context.
// Requirements: CLI-73
func TestEveryVerbEndsBySignalsWhileACredentialPluginRuns(t *testing.T) {
	onEachSignal(t, clusterVerbs, func(t *testing.T, args string, signal syscall.Signal) {
		fifo := newFIFO(t)
		p := start(t, withJob(t, args), func(program *exec.Cmd) {
			program.Env = append(program.Env, "KUBECONFIG="+pluginKubeconfig(t, fifo))
		})
		running := p.openFIFO(t, fifo, os.O_RDONLY)
		if _, err := running.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		p.end(t, signal, "")
	})
}

// pluginKubeconfig writes a kubeconfig whose credential plugin writes into a FIFO, and waits until its reader is gone.
func pluginKubeconfig(t *testing.T, fifo string) string {
	t.Helper()
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: test, context: {cluster: c, user: u, namespace: ns1}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, "exec yes >%s"]}
`, fifo)
	path := filepath.Join(t.TempDir(), "config")
	assert.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func newFIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	assert.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// openFIFO opens a FIFO when the process has opened its other end.
func (p *interrupted) openFIFO(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	p.orEnd(func() {
		if other, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			_ = other.Close()
		}
	})
	file, err := os.OpenFile(path, flag, 0)
	assert.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// largeManifest is almost as large as manifests may be. It takes seconds to parse, and longer to check.
func largeManifest() []byte {
	var text bytes.Buffer
	for i := 0; text.Len() < 15<<20; i++ {
		fmt.Fprintf(&text, "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: job-%d, labels: {app: batch}}\nspec:\n  bogus: 1\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: image}]\n", i)
	}
	return text.Bytes()
}

// Requirements: CLI-73
func TestVerbsThatReadManifestsEndBySignalsWhileParsing(t *testing.T) {
	large := largeManifest()
	onEachSignal(t, []string{
		"lint -f FIFO", "create -f FIFO --dry-run=client", "run -f FIFO", "simulate -f FIFO",
	}, func(t *testing.T, args string, signal syscall.Signal) {
		fifo := newFIFO(t)
		var out bytes.Buffer
		p := start(t, strings.ReplaceAll(args, "FIFO", fifo), func(program *exec.Cmd) { program.Stdout = &out })
		file := p.openFIFO(t, fifo, os.O_WRONLY)
		if _, err := file.Write(large); err != nil {
			t.Fatal(err)
		}
		assert.NoError(t, file.Close())
		p.end(t, signal, "")
		if out.Len() > 0 {
			t.Errorf("prints %.200q", out.String())
		}
	})
}

// Requirements: CLI-73
func TestVerbsThatReadStandardInputEndBySignalsBeforeItsEnd(t *testing.T) {
	onEachSignal(t, []string{"lint -f -", "create -f -", "create -f - --dry-run=client", "run -f -", "simulate -f -", "what-if train -f -", "retry train --patch-file -"},
		func(t *testing.T, args string, signal syscall.Signal) {
			read, write, err := os.Pipe()
			assert.NoError(t, err)
			defer write.Close()
			p := start(t, args, func(program *exec.Cmd) { program.Stdin = read })
			_ = read.Close()
			// It fits into no pipe, so the verb is reading when all of it is written.
			if _, err := write.WriteString(strings.Repeat("# a comment\n", 100_000)); err != nil {
				t.Fatal(err)
			}
			p.end(t, signal, "")
		})
}

// Requirements: CLI-73
func TestVerbsThatPrintMuchEndBySignalsWhileNothingReadsIt(t *testing.T) {
	mistakes := clitest.WriteManifest(t, strings.Repeat("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {}\n", 400))
	large := clitest.WriteManifest(t, strings.Replace(clitest.PlainJob, "image:", "command: ["+strings.Repeat("x, ", 40_000)+"x], image:", 1))
	onEachSignal(t, []string{
		"lint -f " + mistakes, "lint -o json -f " + mistakes, "lint -o sarif -f " + mistakes, "create --dry-run=client -o yaml -f " + large,
	}, func(t *testing.T, args string, signal syscall.Signal) {
		read, write, err := os.Pipe()
		assert.NoError(t, err)
		defer read.Close()
		p := start(t, args, func(program *exec.Cmd) { program.Stdout = write })
		_ = write.Close()
		if _, err := io.ReadFull(read, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		p.end(t, signal, "")
	})
}
