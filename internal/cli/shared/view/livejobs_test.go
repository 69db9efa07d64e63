package view

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func goneJobs(s *snapshot.Snapshot) string {
	var jobs []string
	for i := range s.Jobs.Gone {
		jobs = append(jobs, s.Jobs.Gone[i].UID+" "+s.Jobs.Gone[i].Status)
	}
	return strings.Join(jobs, ", ")
}

func withUID(job *unstructured.Unstructured, uid types.UID) *unstructured.Unstructured {
	job.SetUID(uid)
	return job
}

// Issue 6, CLI-07: the last state of a Job that is deleted as soon as it ends is kept, even if only the deletion is
// seen.
func TestJobThatIsDeletedAtItsEndIsKept(t *testing.T) {
	api := newFakeLive(t, clitest.SimpleJob("ns1", "a", 3), clitest.SimpleJob("ns1", "b", 3), clitest.SimpleJob("ns1", "c", 3))
	s := startLive(t, api)
	s.untilWatching("jobs 1 pods 0 events 0")
	first := s.until("they are there", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/a ns1/b ns1/c" })
	api.api.Remove(clitest.CompleteJob("a")) // the only event about its end
	one := s.until("it is gone", func(got *snapshot.Snapshot) bool { return rowNames(got) == "ns1/b ns1/c" })
	if goneJobs(one) != "ns1-a Complete" || goneJobs(first) != "" {
		t.Errorf("gone: %q, before: %q", goneJobs(one), goneJobs(first))
	}
	api.api.Put(withUID(clitest.SimpleJob("ns1", "b", 0), "b2"))
	s.until("b is another", func(got *snapshot.Snapshot) bool { return goneJobs(got) == "ns1-a Complete, ns1-b Running" })
	api.api.Mu.Lock()
	api.api.Jobs = nil // No event is sent, so only the next list shows it.
	api.api.Mu.Unlock()
	api.api.Put(withUID(clitest.SimpleJob("ns1", "c", 0), "c2"))
	api.api.Expire()
	api.api.DropWatches()
	s.until("the list was read again", func(got *snapshot.Snapshot) bool {
		return rowNames(got) == "ns1/c" && slices.Equal(sorted(goneJobs(got)), []string{"b2 Running", "ns1-a Complete", "ns1-b Running", "ns1-c Running"})
	})
	assert.Equal(t, goneJobs(one), "ns1-a Complete", "an old Snapshot changed")
	s.end()
}

func sorted(list string) []string {
	parts := strings.Split(list, ", ")
	slices.Sort(parts)
	return parts
}

// unreadable is the status of a Job that cannot be decoded.
const unreadable = "Unreadable"

// Issue 6: a Job that cannot be decoded ends nothing: it is reported, and shown again once it can be decoded.
func TestUnreadableJobEndsNothing(t *testing.T) {
	t.Run("of a list", func(t *testing.T) { testUnreadableJob(t, "jobs 2") })
	t.Run("alone", func(t *testing.T) { testUnreadableJob(t, "jobs 1", "train") })
}

func testUnreadableJob(t *testing.T, jobWatches string, names ...string) {
	api := newFakeLive(t, clitest.ExplainedJob("ns1", "train"))
	s := startLive(t, api, names...)
	s.open("train")
	s.untilWatching(jobWatches + " pods 1 events 2")
	broken := clitest.ExplainedJob("ns1", "train")
	broken.Object["spec"].(map[string]any)["completions"] = "ten"
	api.api.Put(broken)
	got := s.until("it makes no sense", func(got *snapshot.Snapshot) bool {
		return strings.Contains(gapsOf(got), "the Job could not be read: json: cannot unmarshal string") && got.Jobs.Items[0].Status == unreadable
	})
	if got.Job.Report.Verdict.Outcome == "" {
		t.Errorf("verdict %+v", got.Job.Report.Verdict)
	}
	api.api.Put(clitest.ExplainedJob("ns1", "train"))
	s.until("it makes sense", func(got *snapshot.Snapshot) bool { return gapsOf(got) == "" })
	api.api.Put(withUID(broken, "another"))
	s.until("another makes no sense", func(got *snapshot.Snapshot) bool {
		return got.Job.Report.Verdict.Status == unreadable && got.Job.Report.Job.UID == "another" && !got.Job.Gone && gapsOf(got) != ""
	})
	s.untilWatching(jobWatches + " pods 0 events 0")
	api.api.Remove(broken)
	s.until("it is gone", func(got *snapshot.Snapshot) bool { return got.Job.Gone && got.Job.Report.Verdict.Status == unreadable })
	api.api.Put(withUID(clitest.ExplainedJob("ns1", "train"), "third"))
	s.until("a third makes sense", func(got *snapshot.Snapshot) bool {
		return got.Job.Report.Job.UID == "third" && !got.Job.Gone && gapsOf(got) == ""
	})
	s.end()
}
