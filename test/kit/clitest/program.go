package clitest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// Now returns the current time of tests.
func Now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Patience is how long a test waits before it fails: far more than a busy machine needs.
const Patience = 5 * time.Minute

// NewEnv returns an environment at the time Now that retries lost connections at once and tolerates a slow machine.
func NewEnv() cmdutil.Env {
	retry := feed.Backoff{First: time.Millisecond, Max: 5 * time.Millisecond, RefusalGrace: time.Minute, Patience: time.Hour}
	return cmdutil.Env{Now: Now, Backoff: retry}
}

// WriteKubeconfig writes a kubeconfig with the context "test" in namespace ns1, and returns its path.
func WriteKubeconfig(t testing.TB, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	content := `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: c, cluster: {server: "` + server + `"}}]
users: [{name: u, user: {}}]
contexts: [{name: test, context: {cluster: c, user: u, namespace: ns1}}, {name: other, context: {cluster: c, user: u}}]
`
	assert.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Result is the output, exit code and error of a command line.
type Result struct {
	Out, ErrOut string
	Code        int
	Err         error
	args        []string
}

// Is checks the exit code, stdout and stderr.
func (r Result) Is(t testing.TB, code int, out, errOut string) {
	t.Helper()
	r.check(t, r.Code == code && r.Out == out && r.ErrOut == errOut, code, out, errOut)
}

// Want checks the exit code, stdout, and parts of stderr in order.
func (r Result) Want(t testing.TB, code int, out string, errOut ...string) {
	t.Helper()
	r.check(t, r.Code == code && r.Out == out && hasParts(r.ErrOut, errOut), code, out, errOut)
}

// Prints checks the exit code, and parts of stdout in order.
func (r Result) Prints(t testing.TB, code int, out ...string) {
	t.Helper()
	r.check(t, r.Code == code && hasParts(r.Out, out), code, out, "anything")
}

func (r Result) check(t testing.TB, ok bool, code int, out, errOut any) {
	t.Helper()
	if !ok {
		t.Errorf("%q\nexit %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q", r.args, r.Code, code, r.Out, out, r.ErrOut, errOut)
	}
}

func hasParts(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// Program makes the command under test, with its subcommands.
type Program func(cmdutil.Env) *cobra.Command

// ProgramOf returns a Program whose root has only these verbs.
func ProgramOf(verbs ...Program) Program {
	return func(env cmdutil.Env) *cobra.Command {
		root := cmdutil.NewRoot(env)
		for _, newCommand := range verbs {
			root.AddCommand(newCommand(env))
		}
		help.Finish(root, nil)
		return root
	}
}

// Rejects checks that command lines of a verb are usage errors: each prints a single line with the expected text and a
// pointer to the help.
func (f Program) Rejects(t *testing.T, api *API, verb string, lines map[string]string) {
	t.Helper()
	for args, wantText := range lines {
		got := f.Run(t, api, append([]string{verb}, strings.Fields(args)...)...)
		isLine := strings.HasPrefix(got.ErrOut, "error: ") && strings.Count(got.ErrOut, "\n") == 1 && strings.Contains(got.ErrOut, "kubectl batchjob "+verb+" --help")
		if got.Code != cmdutil.ExitUsage || got.Out != "" || !isLine || !strings.Contains(got.ErrOut, wantText) {
			t.Errorf("%s %s: exit %d, stdout %q, stderr %q, want %q", verb, args, got.Code, got.Out, got.ErrOut, wantText)
		}
	}
}

// Execute runs a command line and returns its error with the explanation. Completions may take as long as the test waits.
func (f Program) Execute(ctx context.Context, args []string, streams genericiooptions.IOStreams, env cmdutil.Env) error {
	env.IOStreams = streams
	return cmdutil.Execute(cmdutil.WithCompletionTimeout(ctx, Patience), f(env), args)
}

// Run executes a command line against the fake API, which may be nil.
func (f Program) Run(t *testing.T, api *API, args ...string) Result {
	t.Helper()
	if api != nil {
		t.Setenv("KUBECONFIG", WriteKubeconfig(t, api.URL()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var out, errOut bytes.Buffer
	err := f.Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, NewEnv())
	cmdutil.PrintError(&errOut, err)
	return Result{Out: out.String(), ErrOut: errOut.String(), Code: cmdutil.ExitCode(err), Err: err, args: args}
}

// RunOn executes a verb with a manifest; the result has PATH for the path of its file.
func (f Program) RunOn(t *testing.T, manifest, verb string, args ...string) Result {
	t.Helper()
	path := WriteManifest(t, manifest)
	got := f.Run(t, nil, append([]string{verb, "-f", path}, args...)...)
	got.Out, got.ErrOut = strings.ReplaceAll(got.Out, path, "PATH"), strings.ReplaceAll(got.ErrOut, path, "PATH")
	return got
}

// Session is a command line that runs until it is interrupted.
type Session struct {
	t           *testing.T
	args        []string
	Out, ErrOut leash.Output
	Interrupt   context.CancelFunc
	done        chan error
}

// Start runs a command line until it is interrupted.
func (f Program) Start(t *testing.T, api *API, env cmdutil.Env, args ...string) *Session {
	t.Helper()
	t.Setenv("KUBECONFIG", WriteKubeconfig(t, api.URL()))
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{t: t, args: args, Interrupt: cancel, done: make(chan error, 1)}
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &s.Out, ErrOut: &s.ErrOut}
		err := f.Execute(ctx, args, streams, env)
		cmdutil.PrintError(&s.ErrOut, err)
		s.done <- err
	}()
	t.Cleanup(cancel)
	return s
}

// End waits for the end of the session and returns its exit code.
func (s *Session) End() int {
	s.t.Helper()
	select {
	case err := <-s.done:
		return cmdutil.ExitCode(err)
	case <-time.After(Patience):
		s.t.Fatalf("did not end\nout:\n%s\nerr:\n%s", s.Out.String(), s.ErrOut.String())
		return -1
	}
}

// Result waits for the end of the session.
func (s *Session) Result() Result {
	s.t.Helper()
	code := s.End()
	return Result{Out: s.Out.String(), ErrOut: s.ErrOut.String(), Code: code, args: s.args}
}

// WaitOut waits for a text on stdout.
func (s *Session) WaitOut(text string) {
	s.t.Helper()
	s.wait(&s.Out, func(got string) bool { return strings.Contains(got, text) }, text)
}

// WaitErr waits for a text on stderr.
func (s *Session) WaitErr(text string) {
	s.t.Helper()
	s.wait(&s.ErrOut, func(got string) bool { return strings.Contains(got, text) }, text)
}

// WaitLines waits for at least n lines on stdout and returns the lines.
func (s *Session) WaitLines(n int) []string {
	s.t.Helper()
	s.wait(&s.Out, func(got string) bool { return strings.Count(got, "\n") >= n }, "more lines")
	return strings.Split(strings.TrimSuffix(s.Out.String(), "\n"), "\n")
}

func (s *Session) wait(b *leash.Output, ok func(string) bool, what string) {
	s.t.Helper()
	WaitFor(s.t, func() bool { return ok(b.String()) }, func() string {
		return "waiting for " + what + "\nout:\n" + s.Out.String() + "\nerr:\n" + s.ErrOut.String()
	})
}

// WaitFor waits until ok returns true; after Patience it fails the test with the state.
func WaitFor(t testing.TB, ok func() bool, state func() string) {
	t.Helper()
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal(state())
}

// Golden compares got with a file in testdata.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", name), got)
}

// Completes checks the words that a shell is offered for command lines, whose words are separated by |, with cobra's directive:
// "a b :4".
func (f Program) Completes(t *testing.T, api *API, lines map[string]string) {
	t.Helper()
	if api != nil {
		t.Setenv("KUBECONFIG", WriteKubeconfig(t, api.URL()))
	}
	for line, want := range lines {
		words, directive := f.Complete(t, strings.Split(line, "|")...)
		assert.Equal(t, strings.Join(words, " ")+" "+directive, want, line)
	}
}

// Complete returns the words offered by shell completion, and cobra's directive.
func (f Program) Complete(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	got := f.Run(t, nil, append([]string{"__complete"}, args...)...)
	for _, line := range strings.Split(strings.TrimSuffix(got.Out, "\n"), "\n") {
		word, _, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(word, ":") {
			return words, word
		}
		words = append(words, word)
	}
	t.Fatalf("%q: no directive in %q, stderr %q", args, got.Out, got.ErrOut)
	return nil, ""
}
