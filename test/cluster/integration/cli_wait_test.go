package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// command is a running command of the plugin.
type command struct {
	f           *fixture
	out, errOut leash.Output
	interrupt   context.CancelFunc
	done        chan error
}

// adminKubeconfig returns a file with the kubeconfig of a cluster admin.
func adminKubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NoError(t, os.WriteFile(file, apiServer.Kubeconfig, 0o600))
	return file
}

// runPlugin runs a command to its end.
func runPlugin(t *testing.T, stdin string, args ...string) (out, errOut string, code int) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	err := cli.Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &outBuffer, ErrOut: &errBuffer})
	cmdutil.PrintError(&errBuffer, err)
	return outBuffer.String(), errBuffer.String(), cmdutil.ExitCode(err)
}

// startPlugin runs a command in the test's namespace.
func (f *fixture) startPlugin(args ...string) *command {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &command{f: f, interrupt: cancel, done: make(chan error, 1)}
	args = append(args, "-n", f.namespace, "--kubeconfig", adminKubeconfig(f.t))
	go func() {
		err := cli.Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &c.out, ErrOut: &c.errOut})
		cmdutil.PrintError(&c.errOut, err)
		c.done <- err
	}()
	f.t.Cleanup(cancel)
	return c
}

// untilText waits until the output contains text.
func (c *command) untilText(o *leash.Output, text string) {
	c.f.t.Helper()
	if !c.f.history.wait(func() bool { return strings.Contains(o.String(), text) }) {
		c.f.t.Fatalf("it does not say %q\nstdout:\n%s\nstderr:\n%s", text, c.out.String(), c.errOut.String())
	}
}

// end waits until the command ends, and returns its exit code.
func (c *command) end() int {
	c.f.t.Helper()
	c.f.until("the command ends", func() bool { return len(c.done) > 0 })
	return cmdutil.ExitCode(<-c.done)
}

func (c *command) wantEnd(code int, out, errOut string) {
	c.f.t.Helper()
	if got := c.end(); got != code || !strings.Contains(c.out.String(), out) || !strings.Contains(c.errOut.String(), errOut) {
		c.f.t.Errorf("exit %d, want %d, with %q and %q\nstdout:\n%s\nstderr:\n%s", got, code, out, errOut, c.out.String(), c.errOut.String())
	}
}

// The API server stops while the first of two Jobs ends, and starts again.
// Requirements: CLI-07
func TestWaitSurvivesAPIServerRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	proxy := startProxy(t, apiServer.Config)
	f.create(newJob(completions(2), parallelism(2), backoffLimit(1)))
	f.create(named("b", newJob(completions(1), backoffLimit(0))))
	f.untilCounts("a", counts{active: 2})
	f.untilCounts("b", counts{active: 1})
	wait := f.startPlugin("wait", "a", "b", "--server", "https://"+proxy.addr)
	wait.untilText(&wait.errOut, "a  Running, 0/2 done, 2 active")
	proxy.close()
	wait.untilText(&wait.errOut, "Lost connection")
	ofA := f.pods(func(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod).Name == "a" })
	ofB := f.pods(func(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod).Name == "b" })
	f.kubelet.run(ofB...)
	f.kubelet.fail(ofB...)
	f.untilCounts("b", counts{failed: 1})
	proxy.open()
	wait.untilText(&wait.errOut, "Reconnected") // Without a Job that still runs, the end may come first.
	f.kubelet.run(ofA...)
	f.kubelet.succeed(ofA...)
	wait.wantEnd(3, "job.batch/b Failed: BackoffLimitExceeded: ", "Reconnected")
	if out := wait.out.String(); !strings.Contains(out, "job.batch/a Complete in ") || strings.Count(out, "\n") != 2 {
		t.Errorf("stdout %q", out)
	}
	f.startPlugin("wait", "a", "--for=complete", "--timeout=0").wantEnd(0, "job.batch/a Complete in ", "")
	f.startPlugin("wait", "b", "--for=failed").wantEnd(0, "job.batch/b Failed: ", "")
	f.startPlugin("wait", "a", "--for=failed").wantEnd(1, "", "it is already complete")
}
