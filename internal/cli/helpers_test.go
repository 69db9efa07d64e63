package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; read the diff")

// testNow is the time at which tests look at Jobs.
func testNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// patience is how long a test waits for anything before it fails: a minute is far from what a busy machine takes.
const patience = time.Minute

func testEnvironment() environment {
	return environment{now: testNow, retry: feed.Retry{First: time.Millisecond, Max: 5 * time.Millisecond, RefusalGrace: time.Minute}}
}

// writeKubeconfig writes a kubeconfig with the context "test" in namespace ns1, and returns its path.
func writeKubeconfig(t testing.TB, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	content := `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: c, cluster: {server: "` + server + `"}}]
users: [{name: u, user: {}}]
contexts: [{name: test, context: {cluster: c, user: u, namespace: ns1}}, {name: other, context: {cluster: c, user: u}}]
`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// result is what a command line left behind.
type result struct {
	out, errOut string
	code        int
	err         error
}

// rootFunc makes the command that a test runs, and those below it.
type rootFunc func(environment) *cobra.Command

// rootOf returns a root with one verb.
func rootOf(newCommand rootFunc) rootFunc {
	return func(env environment) *cobra.Command {
		root := newRoot(env)
		root.AddCommand(newCommand(env))
		return root
	}
}

// execute runs a command line, and returns its explained error.
func (f rootFunc) execute(ctx context.Context, args []string, streams genericiooptions.IOStreams, env environment) error {
	env.IOStreams = streams
	return executeCommand(ctx, f(env), args)
}

// run executes a command line against the fake API, which may be nil.
func (f rootFunc) run(t *testing.T, api *fakeAPI, args ...string) result {
	t.Helper()
	if api != nil {
		t.Setenv("KUBECONFIG", writeKubeconfig(t, api.url()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errOut bytes.Buffer
	err := f.execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, testEnvironment())
	PrintError(&errOut, err)
	return result{out: out.String(), errOut: errOut.String(), code: ExitCode(err), err: err}
}

// session is a command line that runs until it is interrupted.
type session struct {
	t           *testing.T
	out, errOut lockedBuffer
	interrupt   context.CancelFunc
	done        chan error
}

// start runs a command line until it is interrupted.
func (f rootFunc) start(t *testing.T, api *fakeAPI, env environment, args ...string) *session {
	t.Helper()
	t.Setenv("KUBECONFIG", writeKubeconfig(t, api.url()))
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{t: t, interrupt: cancel, done: make(chan error, 1)}
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &s.out, ErrOut: &s.errOut}
		err := f.execute(ctx, args, streams, env)
		PrintError(&s.errOut, err)
		s.done <- err
	}()
	t.Cleanup(cancel)
	return s
}

// end returns the exit code.
func (s *session) end() int {
	s.t.Helper()
	select {
	case err := <-s.done:
		return ExitCode(err)
	case <-time.After(patience):
		s.t.Fatalf("did not end\nout:\n%s\nerr:\n%s", s.out.String(), s.errOut.String())
		return -1
	}
}

func (s *session) waitOut(text string) {
	s.t.Helper()
	s.wait(&s.out, func(got string) bool { return strings.Contains(got, text) }, text)
}

func (s *session) waitErr(text string) {
	s.t.Helper()
	s.wait(&s.errOut, func(got string) bool { return strings.Contains(got, text) }, text)
}

// waitLines waits for so many lines on stdout.
func (s *session) waitLines(n int) []string {
	s.t.Helper()
	s.wait(&s.out, func(got string) bool { return strings.Count(got, "\n") >= n }, "more lines")
	return strings.Split(strings.TrimSuffix(s.out.String(), "\n"), "\n")
}

func (s *session) wait(b *lockedBuffer, ok func(string) bool, what string) {
	s.t.Helper()
	waitFor(s.t, func() bool { return ok(b.String()) }, func() string {
		return "waiting for " + what + "\nout:\n" + s.out.String() + "\nerr:\n" + s.errOut.String()
	})
}

func waitFor(t *testing.T, ok func() bool, state func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal(state())
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}

// complete returns the words that a shell is offered, and cobra's directive.
func (f rootFunc) complete(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	got := f.run(t, nil, append([]string{"__complete"}, args...)...)
	for _, line := range strings.Split(strings.TrimSuffix(got.out, "\n"), "\n") {
		word, _, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(word, ":") {
			return words, word
		}
		words = append(words, word)
	}
	t.Fatalf("%q: no directive in %q, stderr %q", args, got.out, got.errOut)
	return nil, ""
}
