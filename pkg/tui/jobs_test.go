package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// testNow returns the time of hand-made Snapshots.
func testNow() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: testNow().Add(-d)} }

// someJobs returns a Job of each kind, in two namespaces.
func someJobs() []explain.Outline {
	return []explain.Outline{
		{
			Namespace: "etl", Name: "import-orders", Status: "Running", Outcome: reconcile.OutcomeOpen, Completions: ptr.To[int32](10), Parallelism: ptr.To[int32](3),
			Active: 3, Ready: ptr.To[int32](2), Terminating: ptr.To[int32](1), Succeeded: 4, Failed: 2, Created: ago(26 * time.Hour), Started: ago(26 * time.Hour),
		},
		{
			Namespace: "etl", Name: "nightly-report-29920576", Status: "Failed", Outcome: reconcile.OutcomeFailed, Completions: ptr.To[int32](1), Parallelism: ptr.To[int32](1),
			Ready: ptr.To[int32](0), Terminating: ptr.To[int32](0), Failed: 7, Reason: "BackoffLimitExceeded", EndedBy: explain.EndedByBackoffLimit,
			Created: ago(2 * time.Hour), Started: ago(2 * time.Hour), Finished: ago(95 * time.Minute),
		},
		{
			Namespace: "etl", Name: "queue-worker", Status: "Suspended", Outcome: reconcile.OutcomeOpen, Parallelism: ptr.To[int32](4), Created: ago(40 * 24 * time.Hour),
		},
		{
			Namespace: "ml", Name: "evaluate", Status: "Complete", Outcome: reconcile.OutcomeComplete, Indexed: true, Completions: ptr.To[int32](100), Succeeded: 100,
			FailedIndexes: ptr.To(""), Created: ago(5 * time.Minute), Started: ago(5 * time.Minute), Finished: ago(time.Minute), ManagedBy: "batchjob.dev/controller",
		},
		{
			Namespace: "ml", Name: "sweep", Status: "Running", Outcome: reconcile.OutcomeOpen, Indexed: true, Completions: ptr.To[int32](8), Neglected: true,
			Stalled:   &explain.Stall{Kind: explain.ProblemNotReconciled, Reason: "NotReconciled"},
			ManagedBy: "kueue.x-k8s.io/multikueue", FailedIndexes: ptr.To(""), Created: ago(9 * time.Minute),
		},
		{
			Namespace: "ml", Name: "train-large-language-model-with-a-long-name", Status: "FailureTarget", Outcome: reconcile.OutcomeFailing, Indexed: true,
			Completions: ptr.To[int32](1000), Active: 12, Ready: ptr.To[int32](12), Terminating: ptr.To[int32](38), Succeeded: 420, Failed: 61,
			FailedIndexes: ptr.To("3,7,11-13,20,25,40-60,77"), FailedIndexCount: 29, Reason: "PodFailurePolicy", Rule: ptr.To[int32](0), RuleName: "OutOfMemory",
			ManagedBy: "batchjob.dev/controller", Created: ago(3*time.Hour + 4*time.Minute), Started: ago(3 * time.Hour),
		},
		{
			Namespace: "ml", Name: "validate", Status: "Running", Outcome: reconcile.OutcomeOpen, Indexed: true, Completions: ptr.To[int32](20), Active: 2,
			Ready: ptr.To[int32](2), Succeeded: 3, FailedIndexes: ptr.To(""), Created: ago(90 * time.Second), Started: ago(89 * time.Second),
		},
	}
}

func jobsSnapshot(items ...explain.Outline) *snapshot.Snapshot {
	return &snapshot.Snapshot{Seq: 1, Time: testNow(), Jobs: &snapshot.Jobs{Items: items}}
}

func allNamespaces(o *Options) { o.What = "all namespaces" }

// Issue 6, 1: the list of Jobs in all sizes and looks.
func TestListOfJobsFitsEverySize(t *testing.T) {
	goldens(t, "jobs.all", jobsSnapshot(someJobs()...), allNamespaces, "down", "down")
	goldens(t, "jobs.one-namespace", jobsSnapshot(someJobs()[3:]...), nil, "s")
	goldens(t, "jobs.filtered", jobsSnapshot(someJobs()...), allNamespaces, "/", "m", "l", "/", "space", "!", "r", "u", "n", "enter")
	goldens(t, "jobs.empty", jobsSnapshot(), nil)
	goldens(t, "jobs.no-match", jobsSnapshot(someJobs()...), allNamespaces, "/", "x", "y")
	goldens(t, "jobs.waiting", &snapshot.Snapshot{Time: testNow()}, nil)
	goldens(t, "jobs.times", jobsSnapshot(someJobs()...), allNamespaces, "r")
	goldens(t, "jobs.recorded", load(t, "failure-target"), func(o *Options) { o.Start = StartJobs })
}

// manyJobs returns n Jobs of all kinds.
func manyJobs(n int) []explain.Outline {
	kinds := someJobs()
	items := make([]explain.Outline, n)
	for i := range items {
		items[i] = kinds[i%len(kinds)]
		items[i].Namespace = fmt.Sprintf("team-%02d", i*20/n)
		items[i].Name = fmt.Sprintf("%s-%05d", items[i].Name, i)
	}
	return items
}

// has fails unless the texts are on the screen, in this order.
func (b *testbed) has(t *testing.T, what ...string) {
	t.Helper()
	picture := b.picture()
	from := 0
	for _, w := range what {
		at := strings.Index(picture[from:], w)
		if at < 0 {
			t.Fatalf("%q is missing, in the order %q:\n%s", w, what, picture)
		}
		from += at + len(w)
	}
}

// names returns the names of the visible rows, top to bottom; long names may be cut.
func (b *testbed) names() []string {
	b.t.Helper()
	lines := strings.Split(b.picture(), "\n")
	header := regexp.MustCompile(`(^|\s)NAME\b`)
	first := slices.IndexFunc(lines, header.MatchString) + 1
	if first == 0 {
		return nil
	}
	column := utf8.RuneCountInString(lines[first-1][:header.FindStringIndex(lines[first-1])[1]]) - len("NAME")
	var out []string
	for _, line := range lines[first : len(lines)-1] {
		if strings.TrimSpace(line) == "" { // The preview may follow.
			break
		}
		out = append(out, strings.Fields(string([]rune(line)[column:]))[0])
	}
	return out
}

// chosen returns the name of the row under the cursor.
func (b *testbed) chosen() string {
	b.t.Helper()
	b.View()
	b.press("y")
	name, copied := strings.CutPrefix(bottom(b), "copied: ")
	if !copied {
		b.t.Fatalf("nothing is chosen:\n%s", b.picture())
	}
	return name
}

// isOnTop reports whether the cursor is on the first row.
func (b *testbed) isOnTop() bool {
	before := b.chosen()
	b.press("up")
	return b.chosen() == before
}

func short(names []string) string {
	var out []string
	for _, name := range names {
		first, _, _ := strings.Cut(name, "-")
		out = append(out, first)
	}
	return strings.Join(out, " ")
}

// Issue 6, 1: s selects the next order, S reverses it; the column is marked.
func TestSortingTakesTheNextOrder(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{260, 24}, allNamespaces)
	for _, c := range []struct{ key, want, mark string }{
		{"", "train nightly sweep import queue validate evaluate", "STATUS ▼"},
		{"S", "evaluate validate queue import sweep nightly train", "STATUS ▲"},
		{"s", "import nightly queue evaluate sweep train validate", "NAME ▲"},
		{"S", "validate train sweep evaluate queue nightly import", "NAME ▼"},
		{"s", "validate evaluate sweep nightly train import queue", "AGE ▲"},
		{"s", "import train nightly evaluate validate queue sweep", "DURATION ▼"},
		{"s", "train nightly import queue evaluate sweep validate", "FAILED ▼"},
		{"s", "nightly queue sweep validate import train evaluate", "DONE ▲"},
		{"s", "train nightly sweep import queue validate evaluate", "STATUS ▼"},
	} {
		if c.key != "" {
			b.press(c.key)
		}
		assert.Equal(t, short(b.names()), c.want, c.mark)
		b.has(t, c.mark)
	}
}

// Issue 6, 1: the filter applies while it is typed, and requires all its words; esc in the prompt restores the previous
// filter, and esc on the screen clears it.
func TestFilterChoosesWhileItIsTyped(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{260, 24}, allNamespaces)
	all := "train nightly sweep import queue validate evaluate"
	for _, c := range []struct{ text, want string }{
		{"", all}, {"!", all}, {"ML/", "train sweep validate evaluate"}, {"ml/ !running", "train sweep evaluate"}, {"stalled", "sweep"}, {"problem", "train nightly sweep"}, {"outofmemory", "train"},
		{"rule 0", "train"}, {"backofflimit", "nightly"}, {"no controller", "sweep"}, {"run etl", "import"}, {"zzz", ""},
	} {
		b.press("/")
		b.write(c.text)
		assert.Equal(t, short(b.names()), c.want, c.text)
		b.press("esc")
		assert.Equal(t, short(b.names()), all, "after esc")
	}
	b.press("/")
	b.write("train")
	b.press("enter")
	b.has(t, "/train  1 of 7 Jobs")
	b.press("/")
	b.write("x")
	b.press("esc")
	b.has(t, "/train  1 of 7 Jobs")
	b.press("esc")
	hides(b, "/train  1 of")
	if cmd := b.press("esc"); cmd != nil {
		t.Error("esc without a filter ends the view")
	}
	b.has(t, "q quits")
}

// Issue 6, 1 and 5: enter opens a Job, e its explanation on top of the Job; y copies the name.
func TestEnterOpensAJob(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{80, 24}, allNamespaces)
	b.View()
	b.press("s", "j", "down", "k", "enter")
	assert.Equal(t, b.focus.looked.Job, (types.NamespacedName{Namespace: "etl", Name: "nightly-report-29920576"}), b.focus.looked)
	b.press("q")
	b.View()
	b.press("G", "up", "e")
	if len(b.screens.open) != 3 || b.screens.open[1].Focus().Job.Name != "train-large-language-model-with-a-long-name" {
		t.Errorf("%d screens, looks at %v", len(b.screens.open), b.focus.looked)
	}
	assert.Equalf(t, b.screens.top().Crumb(), "Explain", "the top is %T", b.screens.top())
	b.press("q", "q")
	b.View()
	if b.press("g", "y") == nil {
		t.Error("y does not copy")
	}
	b.has(t, "copied: import-orders")
}

// Issue 6, 1: keys on an empty list open nothing and do no harm.
func TestJobsKeysWithoutJobs(t *testing.T) {
	for _, s := range []*snapshot.Snapshot{{Time: testNow()}, jobsSnapshot()} {
		b := open(t, s, size{60, 20}, nil)
		b.View()
		b.press("enter", "e", "y", "down", "G", "pgup", "s", "S")
		b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		b.View()
		assert.Equal(t, len(b.screens.open), 1, "something was opened")
	}
}

// Issue 6, 1: the cursor stays on its Job while others are added and removed, and keeps its position when that Job is
// removed.
func TestJobsCursorStays(t *testing.T) {
	items := someJobs()
	b := open(t, jobsSnapshot(items...), size{80, 24}, allNamespaces)
	b.View()
	b.press("s", "down", "down", "down")
	for seq, c := range []struct {
		items []explain.Outline
		want  string
	}{
		{items, "evaluate"}, {items[1:], "evaluate"}, {items[3:], "evaluate"}, {items, "evaluate"},
		{append(items[:3:3], items[4:]...), "sweep"},
	} {
		next := jobsSnapshot(c.items...)
		next.Seq = uint64(seq + 2)
		b.send(snapshotMsg{snap: next})
		assert.Equalf(t, b.chosen(), c.want, "%d: on", seq)
	}
	b.press("S")
	assert.Equal(t, b.chosen(), "sweep", "after sorting on")
}

// headers returns the columns of the table on the screen.
func (b *testbed) headers(t *testing.T) string {
	t.Helper()
	for line := range strings.SplitSeq(b.picture(), "\n") {
		if strings.Contains(line, "NAME") && !strings.Contains(line, "namespace") {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	t.Fatalf("no header:\n%s", b.picture())
	return ""
}

// The reason has 30 characters from 100 columns on, and 18 at 80: other columns are omitted for it. Bars use the rest.
// Requirements: CLI-30
func TestListHasRoomForReasons(t *testing.T) {
	items := someJobs()
	const why = "AReasonThatHasThirtyCharacters"
	items[3].Reason, items[3].Outcome = why, reconcile.OutcomeFailed
	for width, want := range map[int]string{80: "AReasonThatHasThi…", 100: why, 120: why, 160: why, 200: why} {
		for _, which := range [][]explain.Outline{items, items[3:]} {
			b := open(t, jobsSnapshot(which...), size{width, 20}, allNamespaces)
			b.has(t, want)
		}
	}
	few := slices.Clone(items[6:])
	few[0].Completions, few[0].Succeeded = ptr.To[int32](2), 1
	wide := func(width int) int {
		return strings.Count(open(t, jobsSnapshot(few...), size{width, 24}, nil).picture(), "█")
	}
	if narrow, broad := wide(80), wide(170); narrow < 2 || broad < 10 {
		t.Errorf("half of a bar has %d cells at 80 columns, %d at 170", narrow, broad)
	}
}

// Issue 6, 1: failed indexes, the matched rule and managedBy are shown if there is room, and the age nearly always.
func TestColumnsAreThereWhereThereIsRoom(t *testing.T) {
	for _, c := range []struct {
		width int
		items []explain.Outline
		want  string
	}{
		{60, someJobs(), "NAMESPACE NAME STATUS ▼ DONE"},
		{80, someJobs(), "NAMESPACE NAME STATUS ▼ DONE WHY AGE"},
		{80, someJobs()[3:], "NAME STATUS ▼ DONE FAILED WHY AGE"},
		{120, someJobs()[3:], "NAME STATUS ▼ DONE TERM FAILED FAILED IDX WHY AGE"},
		{120, someJobs(), "NAMESPACE NAME STATUS ▼ DONE FAILED FAILED IDX WHY AGE"},
		{160, someJobs(), "NAMESPACE NAME STATUS ▼ DONE ACTIVE TERM FAILED FAILED IDX WHY DURATION AGE"},
		{200, someJobs(), "NAMESPACE NAME STATUS ▼ DONE ACTIVE(READY) TERMINATING FAILED FAILED INDEXES WHY RUN BY DURATION AGE"},
	} {
		b := open(t, jobsSnapshot(c.items...), size{c.width, 24}, allNamespaces)
		assert.Equalf(t, b.headers(t), c.want, "%d columns: %s", c.width, b.picture())
		// The summary includes every kind of Job.
		b.has(t, "1 failing", " running", "✓ 1 complete")
		if c.width >= 180 {
			b.has(t, "batchjob.dev/controller")
		}
	}
}

// Issue 6, 1: urgent Jobs are on top from the start; Jobs that failed long ago are no longer urgent.
func TestUrgentJobsAreOnTop(t *testing.T) {
	items := someJobs()
	old := items[1]
	old.Name, old.Finished = "ancient-report", ago(25*time.Hour)
	b := open(t, jobsSnapshot(append(items, old)...), size{260, 24}, allNamespaces)
	assert.Equal(t, short(b.names()), "train nightly sweep import queue validate ancient evaluate")
}

// Issue 6, 1: after a change of the order the first row is visible; a row that the user has chosen stays chosen.
func TestJobsSortShowsTheTop(t *testing.T) {
	b := open(t, jobsSnapshot(manyJobs(100)...), size{80, 24}, allNamespaces)
	b.View()
	for _, key := range []string{"S", "s", "s", "S"} {
		b.press(key)
		if !b.isOnTop() {
			t.Errorf("after %s on %s", key, b.chosen())
		}
	}
	b.press("down", "down")
	name := b.chosen()
	b.press("S")
	if got := b.chosen(); got != name || b.isOnTop() {
		t.Errorf("%s was chosen, and now %s", name, got)
	}
	b.press("g", "S")
	if !b.isOnTop() {
		t.Errorf("after g and S on %s", b.chosen())
	}
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	b.View()
	if b.press("S"); b.isOnTop() {
		t.Error("a row chosen by the wheel is not kept")
	}
}

// Issue 6, 1: the columns keep their positions while the list scrolls.
func TestJobsColumnsStay(t *testing.T) {
	// The widest rows come last.
	items := manyJobs(500)
	for i := range items[:450] {
		items[i] = items[0]
		items[i].Name, items[i].Namespace = fmt.Sprintf("a-%03d", i), "a"
	}
	for _, at := range sizes {
		b := open(t, jobsSnapshot(items...), at, allNamespaces)
		header := func() string {
			for line := range strings.SplitSeq(b.picture(), "\n") {
				if strings.Contains(line, "NAMESPACE") {
					return line
				}
			}
			t.Fatal("no header")
			return ""
		}
		want := header()
		for range 30 {
			b.press("pgdown")
			if got := header(); got != want {
				t.Fatalf("%s: the header changed:\n%s\n%s", at, want, got)
			}
		}
	}
}

// Issue 6: a frame of 5,000 Jobs takes less than 10 ms, even with a new list.
func BenchmarkJobsFrame(b *testing.B) {
	bed := open(b, jobsSnapshot(manyJobs(5000)...), size{160, 50}, allNamespaces)
	bed.View()
	b.Run("tick", func(b *testing.B) {
		for b.Loop() {
			bed.send(tickMsg(bed.now))
			bed.View()
		}
	})
	b.Run("news", func(b *testing.B) {
		for b.Loop() {
			bed.send(snapshotMsg{snap: jobsSnapshot(bed.data.Snap.Jobs.Items...)})
			bed.View()
		}
	})
	b.Run("sorted and filtered news", func(b *testing.B) {
		bed.press("s", "s", "s", "/", "a", "enter")
		for b.Loop() {
			bed.send(snapshotMsg{snap: jobsSnapshot(bed.data.Snap.Jobs.Items...)})
			bed.View()
		}
	})
}

// CLI-08, issue 17: a note names the data that could not be read, and uses lines of the screen only then.
func TestListNamesWhatItCannotRead(t *testing.T) {
	s := jobsSnapshot(someJobs()...)
	s.Jobs.Gaps = []input.Gap{{What: "pods", Text: "pods could not be read: no permission to list pods in namespace ml"}}
	for _, at := range sizes {
		b := open(t, s, at, allNamespaces)
		picture := strings.Join(strings.Fields(b.picture()), " ")
		if !strings.Contains(picture, "Jobs that are stalled may be shown as Running: pods could not be read: no permission to list pods in namespace ml") {
			t.Errorf("%s:\n%s", at, b.picture())
		}
		b.has(t, "! Stalled", "Complete")
	}
}
