package view

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// writable wraps fakeLive, and serves the reads and writes of a retry.
type writable struct {
	*fakeLive
	// forbidden is the subresource of jobs that may not be patched.
	forbidden string
	// hangs is the method whose requests get no response.
	hangs string

	mu      sync.Mutex
	reviews []string
	writes  []string
	bodies  []string
}

func newWritable(t *testing.T, jobs ...*unstructured.Unstructured) *writable {
	t.Helper()
	w := &writable{fakeLive: newFakeLive(t, jobs...), forbidden: "none"}
	w.api.Server.Close()
	w.api.Server = httptest.NewServer(w)
	w.api.Address = w.api.Server.Listener.Addr().String()
	return w
}

func (w *writable) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.fakeLive.ServeHTTP(out, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		w.review(out, body)
		return
	}
	_, path, _ := strings.Cut(r.URL.Path, "/namespaces/ns1/")
	w.mu.Lock()
	w.writes, w.bodies = append(w.writes, r.Method+" "+path), append(w.bodies, string(body))
	w.mu.Unlock()
	if r.Method == w.hangs {
		<-r.Context().Done()
		return
	}
	w.write(out, r, strings.Split(path, "/"), body)
}

func (w *writable) review(out http.ResponseWriter, body []byte) {
	review := &authorizationv1.SelfSubjectAccessReview{TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}}
	_, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, review) // protobuf
	about := review.Spec.ResourceAttributes
	review.Status.Allowed = about.Subresource != w.forbidden
	w.mu.Lock()
	w.reviews = append(w.reviews, strings.TrimSuffix(about.Namespace+" "+about.Verb+" "+about.Resource+"/"+about.Subresource, "/"))
	w.mu.Unlock()
	clitest.WriteJSON(out, http.StatusCreated, review)
}

// write handles the writes of a retry and of its removal.
func (w *writable) write(out http.ResponseWriter, r *http.Request, path []string, body []byte) {
	job := &unstructured.Unstructured{}
	if r.Method == http.MethodPost {
		_ = job.UnmarshalJSON(body)
		job.SetNamespace("ns1")
		job.SetUID(types.UID("made"))
	} else if stored := w.job(path[1]); stored != nil {
		job = stored.DeepCopy()
	} else {
		clitest.WriteStatus(out, &clitest.Status{Code: 404, Reason: "NotFound", Message: "not found"}, path[1])
		return
	}
	switch {
	case r.Method == http.MethodDelete:
		w.api.Remove(job)
		clitest.WriteJSON(out, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return
	case len(path) == 3:
		var patch map[string]map[string]any
		_ = json.Unmarshal(body, &patch)
		job.Object["status"] = patch["status"]
	case r.Method == http.MethodPatch:
		_ = unstructured.SetNestedField(job.Object, false, "spec", "suspend")
		unstructured.RemoveNestedField(job.Object, "metadata", "annotations", retry.PendingAnnotation)
	}
	w.api.Put(job)
	clitest.WriteJSON(out, http.StatusOK, job.Object)
}

// job returns the stored Job, nil if there is none.
func (w *writable) job(name string) *unstructured.Unstructured {
	w.api.Mu.Lock()
	defer w.api.Mu.Unlock()
	i := slices.IndexFunc(w.api.Jobs, func(job *unstructured.Unstructured) bool { return job.GetName() == name })
	if i < 0 {
		return nil
	}
	return w.api.Jobs[i]
}

// formOpened reports whether the form has read the Job: all other code lists and watches.
func (w *writable) formOpened() bool { return w.requests("/jobs/sweep") > 0 }

func (w *writable) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writes)
}

func (w *writable) reviewed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.reviews)
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
func startView(t *testing.T, api *writable, flags ...string) *viewSession {
	t.Helper()
	in, keys := io.Pipe()
	s := &viewSession{t: t, keys: keys, done: make(chan error, 1)}
	env := clitest.NewEnv()
	env.Now, env.In, env.Out, env.ErrOut = time.Now, in, io.Discard, &s.warnings
	kube, config := cmdutil.NewKubeFlags(), clitest.WriteKubeconfig(t, api.api.URL())
	kube.Kubeconfig = config
	var interactive InteractiveFlag
	cmd := &cobra.Command{}
	interactive.AddTo(cmd)
	if err := cmd.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	live, err := OpenLive(DefaultLogLines, kube, cmdutil.JobChoice{}, &s.warnings, env)
	if err != nil {
		t.Fatal(err)
	}
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
func (s *viewSession) confirm(api *writable) {
	s.t.Helper()
	s.pressUntil("R", func() bool { return api.formOpened() })
	s.pressUntil("\ry", func() bool { return len(api.written()) > 0 })
}

// Issue 18: R, enter and y create the same retry as the verb, and the view opens it.
// Requirements: RTY-30, RTY-36
func TestViewCreatesRetry(t *testing.T) {
	api := newWritable(t, failedSweep())
	s := startView(t, api)
	s.confirm(api)
	s.pressUntil("", func() bool { return api.requests("metadata.name%3Dsweep-retry-1") > 0 }) // The view opens the new Job.
	s.end()
	if got := strings.Join(api.reviewed()[:3], ", "); got != "ns1 create jobs, ns1 patch jobs, ns1 patch jobs/status" {
		t.Errorf("it asked for %s", got)
	}
	if got := strings.Join(api.written(), ", "); got != "POST jobs, PATCH jobs/sweep-retry-1/status, PATCH jobs/sweep-retry-1" {
		t.Errorf("it wrote %s", got)
	}
	made := api.job("sweep-retry-1")
	completed, _, _ := unstructured.NestedString(made.Object, "status", "completedIndexes")
	suspended, _, _ := unstructured.NestedBool(made.Object, "spec", "suspend")
	if made.GetAnnotations()[retry.IndexesAnnotation] != "3,7,9" || completed != "0-2,4-6,8" || suspended {
		t.Errorf("it made %v", made.Object)
	}
}

// R replaces an unfinished Job like retry --replace.
//
// Requirements: RTY-37
func TestViewReplacesAStalledJob(t *testing.T) {
	stalled := failedSweep()
	stalled.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
	stalled.Object["status"] = map[string]any{} // No controller has worked on it.
	api := newWritable(t, stalled)
	s := startView(t, api)
	s.confirm(api)
	s.pressUntil("", func() bool { return api.job("sweep") == nil })
	s.end()
	if got := strings.Join(api.written(), ", "); got != "POST jobs, DELETE jobs/sweep" {
		t.Errorf("it wrote %s", got)
	}
}

// Issue 18: a view that ends during a creation returns once the creation is undone.
// Requirements: RTY-33
func TestViewWaitsForTheUndo(t *testing.T) {
	api := newWritable(t, failedSweep())
	api.hangs = http.MethodPatch
	s := startView(t, api)
	s.confirm(api)
	s.pressUntil("", func() bool { return len(api.written()) > 1 })
	if api.job("sweep-retry-1") == nil {
		t.Fatal("there is nothing to undo")
	}
	s.end()
	if job := api.job("sweep-retry-1"); job != nil {
		t.Errorf("left: %v", job.Object)
	}
	if got := s.warnings.String(); got != "" {
		t.Errorf("it said %q", got)
	}
}

// Issue 18: a Job that is left at the end of the view is printed.
// Requirements: RTY-33
func TestViewReportsWhatIsLeft(t *testing.T) {
	api := newWritable(t, failedSweep())
	api.hangs = http.MethodPatch
	s := startView(t, api)
	s.confirm(api)
	s.pressUntil("", func() bool { return len(api.written()) > 1 })
	api.api.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no longer"}
	})
	s.end()
	if got := s.warnings.String(); !strings.Contains(got, "job.batch/sweep-retry-1 was created, but is suspended and runs nothing") {
		t.Errorf("it said %q", got)
	}
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
	api := newWritable(t, failedSweep())
	s := startView(t, api)
	s.pressUntil("", func() bool { return len(api.reviewed()) == 3 })
	const escape = "\x1b[27u"
	for _, screen := range []string{"", "\r", "\r2", "\r3", "\r4", "\r5", "\r6", "e"} {
		for _, key := range allKeys() {
			s.press(screen + key + strings.Repeat(escape, 4))
		}
	}
	s.pressUntil("R", func() bool { return api.formOpened() }) // All earlier keys have had their effect.
	s.press(escape + escape + "0")
	s.end()
	if api.requests("metadata.name%3Dsweep") == 0 {
		t.Error("the Job was not opened")
	}
	if got := api.written(); got != nil {
		t.Errorf("it wrote %v", got)
	}
}

// Issue 18: without a permission, R does nothing, and with --read-only, no permission is checked.
// Requirements: RTY-34
func TestViewHidesRetry(t *testing.T) {
	for _, flags := range [][]string{nil, {"--read-only"}} {
		api := newWritable(t, failedSweep())
		api.forbidden = "status"
		s := startView(t, api, flags...)
		s.pressUntil("\r", func() bool { return api.requests("metadata.name%3Dsweep") > 0 }) // The list was there before.
		if flags == nil {
			s.pressUntil("", func() bool { return len(api.reviewed()) == 3 })
		}
		s.press("R\ry\x7fR\ry")
		s.end()
		if flags != nil && api.reviewed() != nil {
			t.Errorf("it asked for %v", api.reviewed())
		}
		if api.formOpened() || api.written() != nil {
			t.Errorf("%v: the form opened (%t), it wrote %v", flags, api.formOpened(), api.written())
		}
	}
}
