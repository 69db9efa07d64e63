package live

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// testNow returns the time at which tests look at Jobs.
func testNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// testConfig returns the Config of a source that only the test feeds.
func testConfig() Config { return Config{Timing: feed.Timing{Now: testNow}} }

// update returns an Update for a running Job in ns1.
func update(name string) feed.Update {
	return feed.Update{Key: types.NamespacedName{Namespace: "ns1", Name: name}, UID: types.UID(name), Job: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"namespace": "ns1", "name": name, "uid": name},
	}}}
}

func goneNames(jobs []explain.Outline) string {
	if len(jobs) == 0 {
		return "none"
	}
	return jobs[0].Name + " to " + jobs[len(jobs)-1].Name
}

// Issue 6: at most a thousand deleted Jobs are kept, the latest ones; published Snapshots do not change.
func TestDeletedJobsAreBounded(t *testing.T) {
	s := NewSource(testConfig())
	for i := range 3 * maxGoneJobs {
		job := update(fmt.Sprint("job-", i))
		assert.NoError(t, s.list.apply([]feed.Update{job}))
		before := s.list.gone[:len(s.list.gone):len(s.list.gone)]
		last := goneNames(before)
		job.Gone = feed.Deleted
		assert.NoError(t, s.list.apply([]feed.Update{job}))
		if goneNames(before) != last {
			t.Fatalf("what was handed out changed: %s", goneNames(before))
		}
	}
	gone := s.list.gone
	if len(gone) != maxGoneJobs || gone[0].Name != fmt.Sprint("job-", 2*maxGoneJobs) || gone[maxGoneJobs-1].Name != fmt.Sprint("job-", 3*maxGoneJobs-1) {
		t.Errorf("%d are kept, %s", len(gone), goneNames(gone))
	}
}
