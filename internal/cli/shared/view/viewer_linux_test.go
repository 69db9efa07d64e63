package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tmux"
)

// viewVariable makes the test binary show a view instead of running tests.
const viewVariable = "BATCHJOB_TEST_VIEW"

// faulty is a Source that shows a list of Jobs, and fails as its name says when the test sends the signal.
type faulty struct {
	name string
	now  <-chan os.Signal
}

func (f *faulty) Look(snapshot.Focus) {}

func (f *faulty) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	if seen > 0 && f.name == "context" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if seen > 0 {
		<-f.now
		if f.name == "panic in a source" {
			panic("the source is broken")
		}
	}
	return &snapshot.Snapshot{Seq: seen + 1, Time: clitest.Now(), Jobs: &snapshot.Jobs{Items: []explain.Outline{{Namespace: "ns", Name: "the-job", Status: "Running"}}}}, nil
}

func TestMain(m *testing.M) {
	if name := os.Getenv(viewVariable); name != "" {
		showFaulty(name)
	}
	os.Exit(m.Run())
}

// showFaulty runs in the process that TestViewRestoresTheTerminal observes.
func showFaulty(name string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env := clitest.NewEnv()
	env.IOStreams = genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	v := Viewer{Env: env, Display: cmdutil.Display{Terminal: true, Color: true, Width: 80}}
	now := make(chan os.Signal, 1)
	signal.Notify(now, syscall.SIGUSR1)
	o := tui.Options{Source: &faulty{name, now}, What: "a test"}
	switch name {
	case "panic in the view":
		o.EndWhen = func(s *snapshot.Snapshot) bool {
			if s.Seq > 1 {
				panic("the view is broken")
			}
			return false
		}
	case "context":
		go func() {
			<-now
			cancel()
		}()
	case "end":
		o.EndWhen = func(s *snapshot.Snapshot) bool { return s.Seq > 1 }
	}
	err := v.Show(ctx, o)
	cmdutil.PrintError(os.Stderr, err)
	os.Exit(cmdutil.ExitCode(err))
}

// openPTY opens a terminal of 80x24.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := tmux.OpenPTY(80, 24)
	assert.NoError(t, err)
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

// Issue 6: however the view ends, the terminal is restored, and the last screen is left on it.
func TestViewRestoresTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		name string
		code int
		last string // on the terminal after the alternate screen
	}{
		{"panic in the view", cmdutil.ExitError, "error: the interactive view crashed"},
		{"panic in a source", cmdutil.ExitError, "error: the interactive view crashed"},
		{"context", cmdutil.ExitInterrupted, "the-job"},
		{"end", cmdutil.ExitDone, "the-job"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			master, slave := openPTY(t)
			before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
			assert.NoError(t, err)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), viewVariable+"="+tc.name, "TERM=xterm-256color")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			assert.NoError(t, cmd.Start())
			var out leash.Output
			go func() { _, _ = io.Copy(&out, master) }() // ends with the terminal
			watchdog := time.AfterFunc(2*clitest.Patience, func() { _ = cmd.Process.Kill() })
			defer watchdog.Stop()
			clitest.WaitFor(t, func() bool { return strings.Contains(out.String(), "the-job") }, out.String)
			assert.NoError(t, cmd.Process.Signal(syscall.SIGUSR1))
			_ = cmd.Wait() // The exit code is checked below.
			after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
			assert.NoError(t, err)
			assert.DeepEqual(t, before, after, "the line discipline")
			clitest.WaitFor(t, func() bool { return strings.Contains(afterScreen(out.String()), tc.last) }, func() string { return fmt.Sprintf("%q", out.String()) })
			assert.Equal(t, cmd.ProcessState.ExitCode(), tc.code)
			for _, mode := range []string{"1049", "1002", "1006", "2004"} {
				if on, off := strings.LastIndex(out.String(), "\x1b[?"+mode+"h"), strings.LastIndex(out.String(), "\x1b[?"+mode+"l"); on > off {
					t.Errorf("mode %s is left on", mode)
				}
			}
			if push, pop := strings.Index(out.String(), pushTitle), strings.LastIndex(out.String(), popTitle); push < 0 || pop < strings.LastIndex(out.String(), "\x1b]2;") {
				t.Error("the title is not what it was")
			}
			if hidden, shown := strings.LastIndex(out.String(), "\x1b[?25l"), strings.LastIndex(out.String(), "\x1b[?25h"); hidden > shown {
				t.Error("the cursor is left hidden")
			}
		})
	}
}

// afterScreen returns the output after the alternate screen.
func afterScreen(out string) string {
	_, after, _ := strings.Cut(out, "\x1b[?1049l")
	return after
}

// Issue 6: a panic in a goroutine of the live source becomes an error with its position.
func TestGuarded(t *testing.T) {
	err := recovered(func() error { panic("boom\x1b[2J") })()
	if err == nil || !strings.Contains(err.Error(), `crashed: boom\x1b[2J (viewer_linux_test.go:`) || cmdutil.ExitCode(err) != cmdutil.ExitError {
		t.Errorf("error %v", err)
	}
	if err := recovered(func() error { return io.EOF })(); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// If the terminal cannot show the view, a notice says why text is printed.
func TestDumbTerminalGetsANote(t *testing.T) {
	t.Setenv("TERM", "dumb")
	_, terminal := openPTY(t)
	var notes strings.Builder
	streams := genericiooptions.IOStreams{In: terminal, Out: terminal, ErrOut: &notes}
	flag := InteractiveFlag{wanted: true}
	for range 2 {
		if flag.Possible(streams) {
			t.Error("a dumb terminal gets the interactive view")
		}
	}
	if got := notes.String(); strings.Count(got, "TERM is dumb") != 1 || strings.Count(got, "\n") != 1 {
		t.Errorf("note %q", got)
	}
	if streams.ErrOut = nil; (&InteractiveFlag{}).Possible(streams) {
		t.Error("--interactive=false opens it")
	}
}

// Requirements: VIE-03
func TestEnvironmentTurnsTheViewOff(t *testing.T) {
	for _, tc := range []struct {
		environ map[string]string
		flags   []string
		want    bool
	}{
		{want: true},
		{environ: map[string]string{"BATCHJOB_INTERACTIVE": "false"}},
		{environ: map[string]string{"BATCHJOB_INTERACTIVE": "0"}},
		{environ: map[string]string{"BATCHJOB_INTERACTIVE": "nonsense"}, want: true},
		{environ: map[string]string{"CI": "true"}},
		{environ: map[string]string{"CI": "false"}, want: true},
		{environ: map[string]string{"GITHUB_ACTIONS": "true"}},
		{environ: map[string]string{"JENKINS_URL": "https://ci.example"}},
		{environ: map[string]string{"CI": "true", "BATCHJOB_INTERACTIVE": "true"}, want: true},
		{environ: map[string]string{"CI": "true"}, flags: []string{"--interactive"}, want: true},
		{environ: map[string]string{"BATCHJOB_INTERACTIVE": "false"}, flags: []string{"--interactive"}, want: true},
		{flags: []string{"--interactive=false"}},
	} {
		t.Run(fmt.Sprint(tc.environ, tc.flags), func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			for _, name := range append([]string{interactiveVariable}, ciVariables...) {
				t.Setenv(name, tc.environ[name])
			}
			var flag InteractiveFlag
			cmd := &cobra.Command{}
			flag.AddTo(cmd)
			assert.NoError(t, cmd.ParseFlags(tc.flags))
			_, terminal := openPTY(t)
			assert.Equal(t, flag.Possible(genericiooptions.IOStreams{In: terminal, Out: terminal}), tc.want, "interactive")
			if flag.Possible(genericiooptions.IOStreams{In: strings.NewReader(""), Out: terminal}) {
				t.Error("interactive without a terminal as stdin")
			}
		})
	}
}
