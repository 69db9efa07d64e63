package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// testNow is the time of hand-made Snapshots.
func testNow() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: testNow().Add(-d)} }

// someJobs are one of each kind, in two namespaces.
func someJobs() []explain.Outline {
	return []explain.Outline{
		{
			Namespace: "etl", Name: "import-orders", Status: "Running", Fate: explain.FateOpen, Completions: ptr.To[int32](10), Parallelism: ptr.To[int32](3),
			Active: 3, Ready: ptr.To[int32](2), Terminating: ptr.To[int32](1), Succeeded: 4, Failed: 2, Created: ago(26 * time.Hour), Started: ago(26 * time.Hour),
		},
		{
			Namespace: "etl", Name: "nightly-report-29920576", Status: "Failed", Fate: explain.FateFailed, Completions: ptr.To[int32](1), Parallelism: ptr.To[int32](1),
			Ready: ptr.To[int32](0), Terminating: ptr.To[int32](0), Failed: 7, Reason: "BackoffLimitExceeded",
			Created: ago(2 * time.Hour), Started: ago(2 * time.Hour), Finished: ago(95 * time.Minute),
		},
		{
			Namespace: "etl", Name: "queue-worker", Status: "Suspended", Fate: explain.FateOpen, Parallelism: ptr.To[int32](4), Created: ago(40 * 24 * time.Hour),
		},
		{
			Namespace: "ml", Name: "evaluate", Status: "Complete", Fate: explain.FateComplete, Indexed: true, Completions: ptr.To[int32](100), Succeeded: 100,
			FailedIndexes: ptr.To(""), Created: ago(5 * time.Minute), Started: ago(5 * time.Minute), Finished: ago(time.Minute), ManagedBy: "batchjob.dev/controller",
		},
		{
			Namespace: "ml", Name: "sweep", Status: "Running", Fate: explain.FateOpen, Indexed: true, Completions: ptr.To[int32](8), Neglected: true,
			ManagedBy: "kueue.x-k8s.io/multikueue", FailedIndexes: ptr.To(""), Created: ago(9 * time.Minute),
		},
		{
			Namespace: "ml", Name: "train-large-language-model-with-a-long-name", Status: "FailureTarget", Fate: explain.FateFailing, Indexed: true,
			Completions: ptr.To[int32](1000), Active: 12, Ready: ptr.To[int32](12), Terminating: ptr.To[int32](38), Succeeded: 420, Failed: 61,
			FailedIndexes: ptr.To("3,7,11-13,20,25,40-60,77"), FailedIndexCount: 29, Reason: "PodFailurePolicy", Rule: ptr.To[int32](0), RuleName: "OutOfMemory",
			ManagedBy: "batchjob.dev/controller", Created: ago(3*time.Hour + 4*time.Minute), Started: ago(3 * time.Hour),
		},
		{
			Namespace: "ml", Name: "validate", Status: "Running", Fate: explain.FateOpen, Indexed: true, Completions: ptr.To[int32](20), Active: 2,
			Ready: ptr.To[int32](2), Succeeded: 3, FailedIndexes: ptr.To(""), Created: ago(90 * time.Second), Started: ago(89 * time.Second),
		},
	}
}

func jobsSnapshot(items ...explain.Outline) *snapshot.Snapshot {
	return &snapshot.Snapshot{Seq: 1, Time: testNow(), Jobs: &snapshot.Jobs{Items: items}}
}

func allNamespaces(o *Options) { o.What = "all namespaces" }

// Issue 6, 1: the list of Jobs in all sizes and looks.
func TestJobsGoldens(t *testing.T) {
	goldens(t, "jobs.all", jobsSnapshot(someJobs()...), allNamespaces, "down", "down")
	goldens(t, "jobs.one-namespace", jobsSnapshot(someJobs()[3:]...), nil, "s")
	goldens(t, "jobs.filtered", jobsSnapshot(someJobs()...), allNamespaces, "/", "m", "l", "/", "space", "!", "r", "u", "n", "enter")
	goldens(t, "jobs.empty", jobsSnapshot(), nil)
	goldens(t, "jobs.no-match", jobsSnapshot(someJobs()...), allNamespaces, "/", "x", "y")
	goldens(t, "jobs.waiting", &snapshot.Snapshot{Time: testNow()}, nil)
	goldens(t, "jobs.times", jobsSnapshot(someJobs()...), allNamespaces, "r")
	goldens(t, "jobs.recorded", load(t, "failure-target"), func(o *Options) { o.Start = StartJobs })
}

// manyJobs are n Jobs of all kinds.
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

// names are the NAMEs on the screen, in order.
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

func (b *testbed) lacks(t *testing.T, what ...string) {
	t.Helper()
	for _, w := range what {
		if strings.Contains(b.picture(), w) {
			t.Fatalf("%q is on the screen:\n%s", w, b.picture())
		}
	}
}
