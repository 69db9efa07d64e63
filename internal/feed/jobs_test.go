package feed

import (
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// jobAt returns a Job in namespace ns with a resourceVersion.
func jobAt(name string, uid types.UID, version string) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
	job.SetNamespace("ns")
	job.SetName(name)
	job.SetUID(uid)
	job.SetResourceVersion(version)
	return job
}

// inWords formats updates: "a/1 at 7" for a Job that exists, "a/1 Deleted" for a deleted one, "a/1 at 7 Deleted" if the
// deletion was seen.
func inWords(updates []Update) string {
	var words []string
	for _, u := range updates {
		word := u.Key.Name + "/" + string(u.UID)
		if u.Job != nil {
			word += " at " + u.Job.GetResourceVersion()
		}
		words = append(words, strings.TrimSpace(word+" "+string(u.Gone)))
	}
	return strings.Join(words, ", ")
}

// Lists and events are reported as changes: each once, deleted Jobs first.
// Requirements: CLI-07
func TestJobsHandsOverChanges(t *testing.T) {
	var got []string
	jobs := &Jobs{Set: JobSet{Names: []string{"a", "b", "c"}}, OnUpdates: func(updates []Update) error {
		got = append(got, inWords(updates))
		return nil
	}}
	list := func(all ...*unstructured.Unstructured) func() error { return func() error { return jobs.replace(all) } }
	event := func(kind watch.EventType, job *unstructured.Unstructured) func() error {
		return func() error { return jobs.onEvent(kind, job) }
	}
	for _, step := range []struct {
		name string
		do   func() error
		want string
		left int
	}{
		{"the first list", list(jobAt("a", "1", "5"), jobAt("b", "2", "6")), "a/1 at 5, b/2 at 6", 2},
		{"a list without news", list(jobAt("a", "1", "5"), jobAt("b", "2", "6")), "", 2},
		{"a change", event(watch.Modified, jobAt("a", "1", "7")), "a/1 at 7", 2},
		{"a Job of no concern", event(watch.Added, jobAt("other", "9", "8")), "none", 2},
		{"a list after a while", list(jobAt("a", "1", "7"), jobAt("b", "3", "11"), jobAt("c", "4", "12")), "b/2 Replaced, b/3 at 11, c/4 at 12", 3},
		{"a deletion", event(watch.Deleted, jobAt("a", "1", "13")), "a/1 at 13 Deleted", 2},
		{"a deletion twice", event(watch.Deleted, jobAt("a", "1", "13")), "none", 2},
		{"another in its place, and nobody saw the deletion", event(watch.Modified, jobAt("c", "5", "14")), "c/4 Replaced, c/5 at 14", 2},
		{"a list of nothing", list(), "b/3 Deleted, c/5 Deleted", 0},
	} {
		got = nil
		assert.NoError(t, step.do())
		if step.want == "none" {
			step.want = ""
			assert.Equalf(t, len(got), 0, "%s: handed over %q", step.name, got)
		} else if len(got) != 1 || got[0] != step.want {
			t.Errorf("%s: handed over %q, want %q", step.name, got, step.want)
		}
		assert.Equal(t, jobs.Len(), step.left, step.name, "Jobs")
	}
	jobs.OnUpdates = func([]Update) error { return errors.New("enough") }
	if err := jobs.onEvent(watch.Added, jobAt("a", "6", "15")); err == nil || err.Error() != "enough" {
		t.Errorf("the error of Each is lost: %v", err)
	}
}

// A Job that finishes with the update that deletes it has finished; conditions that are not True are ignored.
// Requirements: CLI-03
func TestEndOf(t *testing.T) {
	job := func(conditions ...batchv1.JobCondition) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: conditions}}
	}
	for i, c := range []struct {
		job     *batchv1.Job
		outcome reconcile.Outcome
		gone    reconcile.Outcome
		want    reconcile.Outcome
	}{
		{job(), reconcile.OutcomeOpen, "", ""},
		{job(batchv1.JobCondition{Type: batchv1.JobComplete, Status: "False"}), reconcile.OutcomeOpen, "", ""},
		{job(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: "True"}), reconcile.OutcomeFailing, "", ""},
		{job(batchv1.JobCondition{Type: batchv1.JobSuccessCriteriaMet, Status: "True"}), reconcile.OutcomeSucceeding, Deleted, Deleted},
		{job(batchv1.JobCondition{Type: batchv1.JobComplete, Status: "True"}), reconcile.OutcomeComplete, "", reconcile.OutcomeComplete},
		{job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: "True"}), reconcile.OutcomeFailed, Deleted, reconcile.OutcomeFailed},
		{job(), reconcile.OutcomeOpen, Replaced, Replaced},
	} {
		assert.Equal(t, EndOf(c.job, c.gone), c.want, i)
		assert.Equalf(t, c.outcome.IsFinished(), (EndOf(c.job, "") != ""), "%d: %q is finished", i, c.outcome)
	}
	assert.Equal(t, EndOf(nil, Deleted), Deleted, "a Job that was never seen")
}
