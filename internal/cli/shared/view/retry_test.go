package view

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// asked reports whether a request for such a path was sent.
func asked(api *clitest.Writes, part string) bool {
	return slices.ContainsFunc(api.Queries(""), func(query string) bool { return strings.Contains(query, part) })
}

// formOpened reports whether the form has read the Job: all other code lists and watches.
func formOpened(api *clitest.Writes) bool { return asked(api, "/jobs/sweep?") }

// hangPatches makes patches get no response.
func hangPatches(api *clitest.Writes) {
	api.Around = func(call string, r *http.Request, serve func()) {
		if strings.HasPrefix(call, "patch ") {
			<-r.Context().Done()
			return
		}
		serve()
	}
}

// failedSweep returns a failed Job with ten indexes, of which 3, 7 and 9 did not complete.
func failedSweep() *unstructured.Unstructured {
	job := clitest.WithCondition(clitest.SimpleJob("ns1", "sweep", 7), "Failed", "FailedIndexes", "")
	job.Object["spec"] = map[string]any{
		"completions": int64(10), "parallelism": int64(2), "completionMode": "Indexed", "backoffLimitPerIndex": int64(0),
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "i"}}}},
	}
	_ = unstructured.SetNestedField(job.Object, "0-2,4-6,8", "status", "completedIndexes")
	_ = unstructured.SetNestedField(job.Object, "3,7", "status", "failedIndexes")
	return job
}

// viewSession is a view of a cluster that a test controls by keys.
type viewSession struct {
	t        *testing.T
	keys     *io.PipeWriter
	warnings leash.Output
	done     chan error
}

// startView shows the Jobs of ns1 as watch does.
func startView(t *testing.T, api *clitest.API, flags ...string) *viewSession {
	t.Helper()
	in, keys := io.Pipe()
	s := &viewSession{t: t, keys: keys, done: make(chan error, 1)}
	env := clitest.NewEnv()
	env.Now, env.In, env.Out, env.ErrOut = time.Now, in, io.Discard, &s.warnings
	kube, config := cmdutil.NewKubeFlags(), clitest.WriteKubeconfig(t, api.URL())
	kube.Kubeconfig = config
	var interactive InteractiveFlag
	cmd := &cobra.Command{}
	interactive.AddTo(cmd)
	assert.NoError(t, cmd.ParseFlags(flags))
	live, err := OpenLive(DefaultLogLines, kube, cmdutil.JobChoice{}, &s.warnings, env)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		s.done <- live.Run(ctx, func(ctx context.Context, source snapshot.Source) error {
			options := live.Options(source)
			options.Namespaces = live.Namespaces()
			return interactive.Viewer(env, cmdutil.Display{}).Show(ctx, options)
		})
	}()
	return s
}

func (s *viewSession) press(keys string) {
	s.t.Helper()
	if _, err := s.keys.Write([]byte(keys)); err != nil {
		s.t.Fatal(err)
	}
}

// pressUntil presses keys repeatedly: they have no effect before the data they need has been read, nor afterwards.
func (s *viewSession) pressUntil(keys string, ok func() bool) {
	s.t.Helper()
	clitest.WaitFor(s.t, func() bool {
		if !ok() {
			s.press(keys)
		}
		return ok()
	}, func() string { return "after " + keys })
}

// end presses ctrl+c, and waits for the end.
func (s *viewSession) end() {
	s.t.Helper()
	s.press("\x03")
	select {
	case err := <-s.done:
		if !errors.Is(err, context.Canceled) {
			s.t.Errorf("it ended with %v", err)
		}
	case <-time.After(clitest.Patience):
		s.t.Fatal("it does not end")
	}
}

// confirm opens the form of the Job under the cursor, and creates its retry.
func (s *viewSession) confirm(api *clitest.Writes) {
	s.t.Helper()
	s.pressUntil("R", func() bool { return formOpened(api) })
	s.pressUntil("\ry", func() bool { return len(api.Named()) > 0 })
}

// Issue 18: R, enter and y create the same retry as the verb, and the view opens it.
// Requirements: RTY-30, RTY-36
func TestViewCreatesRetry(t *testing.T) {
	api := clitest.NewWrites(t, failedSweep())
	s := startView(t, api.API)
	s.confirm(api)
	s.pressUntil("", func() bool { return asked(api, "metadata.name%3Dsweep-retry-1") }) // The view opens the new Job.
	s.end()
	assert.Equal(t, strings.Join(api.Reviews()[:3], ", "), "ns1 create jobs, ns1 patch jobs, ns1 patch jobs/status")
	assert.Equal(t, strings.Join(api.Named(), ", "), "create sweep-retry-1, patch sweep-retry-1/status, patch sweep-retry-1")
	made := api.Job("sweep-retry-1")
	completed, _, _ := unstructured.NestedString(made.Object, "status", "completedIndexes")
	suspended, _, _ := unstructured.NestedBool(made.Object, "spec", "suspend")
	if made.GetAnnotations()[retry.IndexesAnnotation] != "3,7,9" || completed != "0-2,4-6,8" || suspended {
		t.Errorf("it made %v", made.Object)
	}
}

// R replaces an unfinished Job like retry --replace.
// Requirements: RTY-37
func TestViewReplacesAStalledJob(t *testing.T) {
	stalled := failedSweep()
	stalled.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
	stalled.Object["status"] = map[string]any{} // No controller has worked on it.
	api := clitest.NewWrites(t, stalled)
	s := startView(t, api.API)
	s.confirm(api)
	s.pressUntil("", func() bool { return api.Job("sweep") == nil })
	s.end()
	assert.Equal(t, strings.Join(api.Named(), ", "), "create sweep-retry-1, delete sweep")
}

// Issue 18: a view that ends during a creation returns once the creation is undone.
// Requirements: RTY-33
func TestViewWaitsForTheUndo(t *testing.T) {
	api := clitest.NewWrites(t, failedSweep())
	hangPatches(api)
	s := startView(t, api.API)
	s.confirm(api)
	s.pressUntil("", func() bool { return len(api.Named()) > 1 })
	if api.Job("sweep-retry-1") == nil {
		t.Fatal("there is nothing to undo")
	}
	s.end()
	if job := api.Job("sweep-retry-1"); job != nil {
		t.Errorf("left: %v", job.Object)
	}
	assert.Equal(t, s.warnings.String(), "")
}

// Issue 18: a Job that is left at the end of the view is printed.
// Requirements: RTY-33
func TestViewReportsWhatIsLeft(t *testing.T) {
	api := clitest.NewWrites(t, failedSweep())
	hangPatches(api)
	s := startView(t, api.API)
	s.confirm(api)
	s.pressUntil("", func() bool { return len(api.Named()) > 1 })
	api.API.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no longer"}
	})
	s.end()
	assert.Contains(t, s.warnings.String(), "job.batch/sweep-retry-1 was created, but is suspended and runs nothing")
}

// allKeys returns all keys that a keyboard has in a terminal, except R, the keys that end or suspend the program, and 0, after
// which the list is read anew.
func allKeys() (keys []string) {
	for c := byte(' '); c <= '~'; c++ {
		if c != 'R' && c != 'q' && c != '0' {
			keys = append(keys, string(c))
		}
	}
	return append(keys, "\t", "\r", "\x7f", "\x02", "\x04", "\x06", "\x0c", "\x15", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1bOP", "\x1b[5~", "\x1b[6~")
}

// Without a confirmation, no key writes to the cluster.
// Requirements: RTY-35
func TestOtherKeysDoNotWrite(t *testing.T) {
	t.Chdir(t.TempDir()) // The key w writes files.
	api := clitest.NewWrites(t, failedSweep())
	s := startView(t, api.API)
	s.pressUntil("", func() bool { return len(api.Reviews()) == 3 })
	const escape = "\x1b[27u"
	for _, screen := range []string{"", "\r", "\r2", "\r3", "\r4", "\r5", "\r6", "e"} {
		for _, key := range allKeys() {
			s.press(screen + key + strings.Repeat(escape, 4))
		}
	}
	s.pressUntil("R", func() bool { return formOpened(api) }) // All earlier keys have had their effect.
	s.press(escape + escape + "0")
	s.end()
	if !asked(api, "metadata.name%3Dsweep") {
		t.Error("the Job was not opened")
	}
	if got := api.Named(); got != nil {
		t.Errorf("it wrote %v", got)
	}
}

// Issue 18: without a permission, R does nothing, and with --read-only, no permission is checked.
// Requirements: RTY-34
func TestViewHidesRetry(t *testing.T) {
	for _, flags := range [][]string{nil, {"--read-only"}} {
		api := clitest.NewWrites(t, failedSweep())
		api.Deny("patch jobs/status")
		s := startView(t, api.API, flags...)
		s.pressUntil("\r", func() bool { return asked(api, "metadata.name%3Dsweep") }) // The list was there before.
		if flags == nil {
			s.pressUntil("", func() bool { return len(api.Reviews()) == 3 })
		}
		s.press("R\ry\x7fR\ry")
		s.end()
		if flags != nil && api.Reviews() != nil {
			t.Errorf("it asked for %v", api.Reviews())
		}
		if formOpened(api) || api.Named() != nil {
			t.Errorf("%v: the form opened (%t), it wrote %v", flags, formOpened(api), api.Named())
		}
	}
}
