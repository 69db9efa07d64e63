package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// fakeRetrier plans retries of a Job without a cluster.
type fakeRetrier struct {
	forbidden bool
	total     int32 // 0 for a NonIndexed Job
	missing   indexset.Set
	refusal   error // returned by the plan for all missing indexes
	warnings  []string
	findErr   error
	createErr error
	replaces  bool
	ranOut    bool // of memory

	asked   []string
	created []string
}

func (f *fakeRetrier) IsAllowed(_ context.Context, namespace string) bool {
	f.asked = append(f.asked, namespace)
	return !f.forbidden
}

func (f *fakeRetrier) Find(context.Context, types.NamespacedName) (*screen.Retryable, error) {
	found := &screen.Retryable{Indexed: f.total > 0, Replaces: f.replaces, Plan: f.planOf}
	if f.ranOut {
		found.PlanMemory = f.planMemory
	}
	return found, f.findErr
}

func (f *fakeRetrier) planMemory(indexes *indexset.Set, memory string) (*screen.RetryPlan, error) {
	if memory != "x2" && memory != "x20" {
		return nil, errors.New("--memory: use a factor or an amount, such as x2 or +4Gi")
	}
	plan, err := f.planOf(indexes)
	if err == nil {
		plan.Name += "-" + memory
		plan.Summary += " Container main gets more memory (" + memory + ")."
	}
	return plan, err
}

func (f *fakeRetrier) planOf(indexes *indexset.Set) (*screen.RetryPlan, error) {
	switch {
	case f.total == 0:
		return f.plan(indexset.Set{}, "It runs the 3 completions that are missing.")
	case indexes == nil:
		indexes = &f.missing
	}
	if outside := indexes.Difference(indexset.Below(f.total)); !outside.IsEmpty() {
		return nil, fmt.Errorf("--indexes: job.batch/sweep has no index %s; its indexes are 0-%d", outside, f.total-1)
	}
	n := int32(indexes.Len())
	return f.plan(*indexes, fmt.Sprintf("It runs %d indexes (%s); the other %d indexes count as done.", n, wording.Crop(indexes.String(), 40, "…"), f.total-n))
}

func (f *fakeRetrier) plan(indexes indexset.Set, summary string) (*screen.RetryPlan, error) {
	if f.refusal != nil {
		return nil, f.refusal
	}
	return &screen.RetryPlan{
		Name: "sweep-retry-1", Summary: summary, Warnings: f.warnings, Indexes: indexes,
		Create: func(ctx context.Context) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if f.createErr == nil {
				f.created = append(f.created, indexes.String())
			}
			return f.createErr
		},
	}, nil
}

// sweep returns a failed Job of ten indexes, of which 3 and 7 failed and 9 never ran.
func sweep(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	s := withIndexes(t, &explain.Indexes{Total: 10, Completed: "0-2,4-6,8", CompletedCount: 7, Failed: "3,7", FailedCount: 2, Pending: "9", PendingCount: 1})
	r := s.Job.Report
	r.Verdict = explain.Verdict{Status: "Failed", Outcome: reconcile.OutcomeFailed, End: explain.End{Reason: "FailedIndexes"}, Sentence: "The Job failed."}
	r.Job.Namespace, r.Job.Name = "default", "sweep"
	s.Focus.Job = types.NamespacedName{Namespace: "default", Name: "sweep"}
	return s
}

func sweepRetrier() *fakeRetrier {
	return &fakeRetrier{total: 10, missing: indexset.Of(3, 7, 9)}
}

// do runs the Tasks of a command, and the commands that follow from them.
func (b *testbed) do(cmd tea.Cmd) {
	b.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, each := range msg {
			b.do(each)
		}
	case doneMsg:
		b.do(b.send(msg))
		b.View()
	}
}

// retries sets the Retrier of the view, and checks the permissions.
func (b *testbed) retries(f screen.Retrier) {
	b.t.Helper()
	b.o.Retrier = f
	b.do(b.send(windowSize(b.width, b.height)))
}

// keys presses keys, and waits after each for the work that it started.
func (b *testbed) keys(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.do(b.press(name))
	}
}

// openRetry opens the form for a failed Job.
func openRetry(t *testing.T, f *fakeRetrier) *testbed {
	t.Helper()
	b := open(t, sweep(t), size{80, 24}, nil)
	b.retries(f)
	b.keys("R")
	return b
}

// Issue 18: the form, its question, a refusal and a failure, in all sizes.
// Requirements: RTY-30
func TestRetryFormFitsEverySize(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeRetrier)
		keys   []string
	}{
		"form": {keys: []string{"R"}},
		"owned": {func(f *fakeRetrier) {
			f.warnings = []string{"JobSet/train does not own the new Job, and does not know about it"}
		}, []string{"R"}},
		"chosen":  {keys: []string{"R", "i", "ctrl+u", "0", "-", "2"}},
		"invalid": {keys: []string{"R", "i", ",", "1", "2"}},
		"confirm": {keys: []string{"R", "enter"}},
		"refused": {func(f *fakeRetrier) {
			f.refusal = errors.New("nothing is missing: job.batch/sweep-retry-1 has completed what sweep did not; choose what to run again with --indexes")
		}, []string{"R"}},
		"failed": {func(f *fakeRetrier) {
			f.createErr = errors.New("you may not create jobs in namespace default; ask for it")
		}, []string{"R", "enter", "y"}},
		"help": {keys: []string{"R", "?"}},
	} {
		goldensOf(t, "retry."+name, sweep(t), func(b *testbed) {
			f := sweepRetrier()
			if c.change != nil {
				c.change(f)
			}
			b.retries(f)
			b.keys(c.keys...)
		})
	}
	goldensOf(t, "retry.nonindexed", load(t, "backoff-limit-oom"), func(b *testbed) {
		b.retries(&fakeRetrier{})
		b.keys("R", "enter")
	})
}

// Issue 18: nothing is created before the answer y, and esc goes back at every step.
// Requirements: RTY-32
func TestRetryIsConfirmed(t *testing.T) {
	f := sweepRetrier()
	for _, keys := range [][]string{
		{"esc"}, {"q"}, {"enter", "esc", "esc"}, {"enter", "n", "q"}, {"enter", "enter", "esc"}, {"enter", "N", "esc"}, {"i", "1", "esc", "enter", "x", "space", "space", "q", "q"},
	} {
		b := openRetry(t, f)
		shows(b, "default/sweep › Retry", "It runs 3 indexes (3,7,9)", "◆ 3 to run", "0 ■ ■ ■ ◆ ■ ■ ■ ◆ ■ ◆")
		b.keys(keys...)
		shows(b, "1 Overview")
		hides(b, "› Retry")
	}
	if f.created != nil {
		t.Fatalf("created %v", f.created)
	}
	b := openRetry(t, f)
	b.keys("enter")
	shows(b, "Create job sweep-retry-1, which runs 3 indexes? y/N")
	b.keys("y")
	shows(b, "default/sweep › default/sweep-retry-1", "Created job sweep-retry-1. It runs 3 indexes (3,7,9)")
	assert.SlicesEqual(t, f.created, []string{"3,7,9"}, "created")
	assert.Equal(t, b.focus.looked.Job.Name, "sweep-retry-1", "it looks at")
	b.keys("esc")
	shows(b, "default/sweep", "1 Overview")
}

// Issue 18: the input line selects indexes, the map follows, and indexes that cannot run are refused.
// Requirements: RTY-31
func TestRetryIndexesAreChosen(t *testing.T) {
	f := sweepRetrier()
	b := openRetry(t, f)
	b.keys("i")
	shows(b, "--indexes 3,7,9 ")
	for _, c := range []struct{ keys, shown string }{
		{"backspace backspace - 8", "It runs 3 indexes (3,7,8)"},
		{"ctrl+u 1 0", "✗ --indexes: job.batch/sweep has no index 10; its indexes are 0-9"},
		{"ctrl+u 3 -", "not a completion index; use numbers and ranges"},
	} {
		b.keys(strings.Fields(c.keys)...)
		shows(b, c.shown)
	}
	b.keys("enter")
	shows(b, "✗ ", "i choose indexes")
	b.keys("enter")
	hides(b, "y/N", "◆ ", "sweep-retry-1", "enter create")
	b.keys("i", "ctrl+u")
	shows(b, "◆ 3 to run") // as without a list
	b.send(tea.PasteMsg{Content: "0,4-\n5"})
	shows(b, "✗ --indexes:")
	b.keys("esc")
	shows(b, "◆ 3 to run") // as before the question
	b.keys("i", "ctrl+u")
	b.send(tea.PasteMsg{Content: "0,4-5\n"})
	shows(b, "--indexes 0,4-5 ", "0 ◆ ■ ■ ✗ ◆ ◆ ■ ✗ ■ ·")
	b.keys("enter", "enter", "y")
	assert.SlicesEqual(t, f.created, []string{"0,4,5"}, "created")
}

// Issue 18: R is hidden until the user is known to have permission to create Jobs, with --read-only, and for a Job that has
// not failed.
// Requirements: RTY-34
func TestRetryIsHidden(t *testing.T) {
	hidden := func(b *testbed) {
		t.Helper()
		hides(b, "R retry")
		b.keys("R")
		hides(b, "› Retry")
		b.press("?")
		hides(b, "retry")
	}
	b := open(t, sweep(t), size{80, 24}, nil)
	hidden(b) // --read-only, a recording

	f := sweepRetrier()
	b = open(t, sweep(t), size{80, 24}, nil)
	b.o.Retrier = f
	answer := b.send(windowSize(80, 24))
	hides(b, "R retry")
	b.do(answer)
	shows(b, "R retry")
	b.press("?")
	shows(b, "R           retry")
	b.press("esc", "down", "2", "e")
	shows(b, "R retry") // also on the explanation
	assert.SlicesEqual(t, f.asked, []string{"default"}, "asked for")

	b = open(t, sweep(t), size{80, 24}, nil)
	b.retries(&fakeRetrier{forbidden: true})
	hidden(b)

	for _, outcome := range []reconcile.Outcome{reconcile.OutcomeOpen, reconcile.OutcomeFailing, reconcile.OutcomeSucceeding, reconcile.OutcomeComplete} {
		s := sweep(t)
		s.Job.Report.Verdict.Outcome = outcome
		b = open(t, s, size{80, 24}, nil)
		b.retries(sweepRetrier())
		b.keys("R")
		shows(b, "only a Job that has failed or is stalled can be retried")
	}
	s := sweep(t)
	s.Job.Gone = true
	b = open(t, s, size{80, 24}, nil)
	b.retries(sweepRetrier())
	hidden(b)
}

// Issue 18: in the list, R acts on the Job under the cursor, and permission is checked once per namespace.
// Requirements: RTY-34
func TestRetryFromTheList(t *testing.T) {
	f := sweepRetrier()
	items := someJobs()
	for i := range items {
		items[i].Outcome = reconcile.OutcomeFailed
	}
	items[0].Outcome = reconcile.OutcomeOpen
	b := open(t, jobsSnapshot(items...), size{160, 50}, allNamespaces)
	b.retries(f)
	for range items {
		b.keys("down")
	}
	for range items {
		b.keys("up")
	}
	slices.Sort(f.asked)
	assert.SlicesEqual(t, f.asked, []string{"etl", "ml"}, "asked for")
	b.keys("/")
	b.write("report")
	b.keys("enter", "R")
	shows(b, "Jobs › Retry", "Retry of job etl/nightly-report-29920576")
	b.keys("esc", "esc", "/")
	b.write("import")
	b.keys("enter", "R")
	shows(b, "only a Job that has failed or is stalled can be retried")
}

// R on a stalled Job offers to replace it, and says what will be deleted before it asks.
// Requirements: RTY-34, RTY-37
func TestStalledJobCanBeReplaced(t *testing.T) {
	s := sweep(t)
	s.Job.Report.Verdict.Outcome, s.Job.Report.Verdict.Stalled = reconcile.OutcomeOpen, true
	b := open(t, s, size{80, 24}, nil)
	f := sweepRetrier()
	f.replaces = true
	b.retries(f)
	b.keys("R")
	shows(b, "Job sweep has not finished: once the new Job exists, it is deleted with its")
	b.keys("enter")
	shows(b, "and delete job sweep? y/N")

	s.Job.Report.Job.Suspend = true // A queue may hold the Job.
	b = open(t, s, size{80, 24}, nil)
	b.retries(f)
	b.keys("R")
	shows(b, "only a Job that has failed or is stalled can be retried")
}

// The form offers more memory if a container ran out of it, for the chosen indexes.
// Requirements: RTY-45
func TestRetryFormOffersMemory(t *testing.T) {
	f := sweepRetrier()
	b := openRetry(t, f)
	b.keys("m") // No container ran out of memory.
	hides(b, "--memory", "more memory")
	f.ranOut = true
	b = openRetry(t, f)
	shows(b, "more memory", "sweep-retry-1", "It runs 3 indexes")
	b.keys("m")
	shows(b, "--memory x2", "sweep-retry-1-x2", "Container main gets more memory (x2).")
	b.keys("0", "enter")
	shows(b, "sweep-retry-1-x20")
	b.keys("i", "backspace", "backspace", "enter")
	shows(b, "sweep-retry-1-x20", "It runs 2 indexes (3,7)")
	b.keys("m", "backspace", "backspace", "backspace", "enter")
	shows(b, "sweep-retry-1", "It runs 2 indexes (3,7)")
	hides(b, "more memory (")
	b.keys("m", "z")
	shows(b, "use a factor or an amount")
}

// waiting is a Retrier whose creation blocks until its context ends.
type waiting struct{ *fakeRetrier }

func (w waiting) Find(context.Context, types.NamespacedName) (*screen.Retryable, error) {
	return &screen.Retryable{Indexed: true, Plan: func(indexes *indexset.Set) (*screen.RetryPlan, error) {
		plan, err := w.planOf(indexes)
		if err == nil {
			plan.Create = func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return plan, err
	}}, nil
}

// Issue 18: a creation in progress is shown; esc interrupts it, and so does the end of the view.
// Requirements: RTY-33
func TestRetryIsInterrupted(t *testing.T) {
	for _, key := range []string{"esc", "q", "ctrl+c"} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := open(t, sweep(t), size{80, 24}, func(o *Options) { o.Context = ctx })
		b.retries(waiting{sweepRetrier()})
		b.keys("R", "enter")
		creating := b.press("y")
		shows(b, "Creating job sweep-retry-1… esc stops")
		b.press("y", "enter", "7")
		if quit := b.press(key); key == "ctrl+c" {
			assert.Equal(t, gives(quit), interrupts, "it does not quit")
			cancel()
		}
		b.do(creating)
		shows(b, "1 Overview", "The creation of job sweep-retry-1 was interrupted.")
	}
}

// Issue 18: on every screen, only y as the answer to the question creates a Job.
// Requirements: RTY-35
func TestOnlyTheAnswerCreates(t *testing.T) {
	var keys []string
	for c := ' ' + 1; c <= '~'; c++ {
		keys = append(keys, string(c))
	}
	keys = append(keys, "space", "enter", "esc", "tab", "backspace", "up", "down", "left", "right", "home", "end", "ctrl+u", "ctrl+l")
	for name, opened := range everyScreen(t) {
		for _, key := range keys {
			b, f := opened(), sweepRetrier()
			b.retries(f)
			if s := b.screens.top(); strings.HasPrefix(name, "retry") {
				b.act(screen.Action{Close: true})
				b.keys("R")
				if strings.Contains(name, "confirmed") {
					b.keys("enter")
				}
				if b.screens.top() == s {
					t.Fatal("the form is not that of the Retrier")
				}
			}
			b.keys(key)
			if asked := name == "retry confirmed" && key == "y"; (len(f.created) > 0) != asked {
				t.Errorf("%s: %q created %v", name, key, f.created)
			}
		}
	}
}

// Issue 18: an error stays on the form, which then creates nothing.
// Requirements: RTY-36
func TestRetryShowsErrors(t *testing.T) {
	f := sweepRetrier()
	f.findErr = errors.New("no answer from the API server" + evil)
	b := openRetry(t, f)
	shows(b, "✗ No answer from the API server")
	checkHarmless(t, b)
	f.findErr, f.createErr = nil, errors.New("job.batch/sweep-retry-1 exists already")
	b.keys("esc", "R", "enter", "y")
	shows(b, "✗ job.batch/sweep-retry-1 exists already")
	f.createErr, f.warnings = nil, slices.Repeat([]string{evil}, 3)
	b.keys("enter", "y", "i", "esc", "R")
	shows(b, "0 ■ ■ ■ ◆")
	checkHarmless(t, b)
	if f.created != nil {
		t.Errorf("created %v", f.created)
	}
	b.keys("enter", "y")
	shows(b, "› default/sweep-retry-1")
}

// Issue 18: an index list of any length can be planned; a list that is too long to edit is replaced.
// Requirements: RTY-31
func TestRetryOfManyIndexes(t *testing.T) {
	f := sweepRetrier()
	f.total = 200_000
	var odd []int32
	for i := int32(1); i < f.total; i += 2 {
		odd = append(odd, i)
	}
	f.missing = indexset.Of(odd...)
	b := openRetry(t, f)
	b.keys("enter")
	shows(b, "which runs 100,000 indexes?")
	b.keys("n", "i")
	shows(b, "--indexes  ")
	b.keys("5", "enter", "enter")
	shows(b, "which runs 1 index?")
}
