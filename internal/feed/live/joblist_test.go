package live

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// testNow is the time at which tests look at Jobs.
func testNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// testConfig is that of a source that nothing but the test feeds.
func testConfig() Config { return Config{Timing: feed.Timing{Now: testNow}} }

// update is a running Job of ns1.
func update(name string) feed.Update {
	return feed.Update{Key: snapshot.JobKey{Namespace: "ns1", Name: name}, UID: types.UID(name), Job: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"namespace": "ns1", "name": name, "uid": name},
	}}}
}

func goneNames(jobs []explain.Outline) string {
	if len(jobs) == 0 {
		return "none"
	}
	return jobs[0].Name + " to " + jobs[len(jobs)-1].Name
}

// Issue 6: no more than a thousand of them are kept, the latest; Snapshots that were handed out stay.
func TestDeletedJobsAreBounded(t *testing.T) {
	s := NewSource(testConfig())
	for i := range 3 * maxGoneJobs {
		job := update(fmt.Sprint("job-", i))
		if err := s.list.take([]feed.Update{job}); err != nil {
			t.Fatal(err)
		}
		before := s.list.gone[:len(s.list.gone):len(s.list.gone)]
		last := goneNames(before)
		job.Gone = feed.Deleted
		if err := s.list.take([]feed.Update{job}); err != nil {
			t.Fatal(err)
		}
		if goneNames(before) != last {
			t.Fatalf("what was handed out changed: %s", goneNames(before))
		}
	}
	gone := s.list.gone
	if len(gone) != maxGoneJobs || gone[0].Name != fmt.Sprint("job-", 2*maxGoneJobs) || gone[maxGoneJobs-1].Name != fmt.Sprint("job-", 3*maxGoneJobs-1) {
		t.Errorf("%d are kept, %s", len(gone), goneNames(gone))
	}
}
