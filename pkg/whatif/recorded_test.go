package whatif_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// recordings is the folder of the recorded Jobs of pkg/explain.
const recordings = "../explain/analysis/testdata/recorded"

// differ are the recorded Jobs that a replay cannot reproduce, and why.
var differ = map[string]string{
	"admission-denied":         refused,
	"admission-denied.builtin": refused,
	"quota":                    refused,
	"quota.builtin":            refused,
	"controller-gone":          "the controller was killed, and the virtual one works",
	"unknown-managed-by":       "no controller ran the Job, and the virtual one does",
	"deleting":                 "a user deletes the Job; only Jobs that finished are of interest",
}

const refused = "the API server refused to create pods, which a Job and its pods do not show"

// TestReplayReproducesRecordedJobs replays every recorded Job with its own policies: the conditions, counts and indexes
// must be the recorded ones, unless the Job is listed in differ.
// Requirements: WIF-05
func TestReplayReproducesRecordedJobs(t *testing.T) {
	same := 0
	jobs := 0
	for name, in := range recordedJobs(t) {
		jobs++
		differences := replayed(t, in)
		_, listed := differ[name]
		switch {
		case len(differences) == 0 && !listed:
			same++
		case len(differences) == 0:
			t.Errorf("%s is in the list of those that differ, but its replay reproduces it", name)
		case !listed:
			t.Errorf("%s: %s", name, strings.Join(differences, "; "))
		}
	}
	documented(t, fmt.Sprintf("%d of %d recorded Jobs", same, jobs))
}

// documented checks that the documentation contains the text with its current number.
func documented(t *testing.T, text string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/retry.md")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(page)), " "), text) {
		t.Errorf("docs/retry.md does not have %q, %v", text, err)
	}
}

func recordedJobs(t *testing.T) map[string]input.Input {
	t.Helper()
	files, err := recorded.Files(recordings)
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded Jobs: %v", err)
	}
	jobs := map[string]input.Input{}
	for _, file := range files {
		c, err := recorded.Load(file)
		assert.NoError(t, err)
		for _, in := range c.Inputs {
			name := c.Name
			if len(c.Inputs) > 1 {
				name = filepath.Join(c.Name, in.Job.Name)
			}
			jobs[name] = in
		}
	}
	return jobs
}

// replayed returns the differences between a replay with the unchanged policies and what happened.
func replayed(t *testing.T, in input.Input) (texts []string) {
	t.Helper()
	h := whatif.Observe(in)
	result, err := h.Replay(t.Context(), h.Job, 24*time.Hour)
	if err != nil {
		return []string{err.Error()}
	}
	for _, d := range h.Differences(&result) {
		texts = append(texts, fmt.Sprintf("%s %s, replayed %s", d.Field, d.Happened, d.Replayed))
	}
	return texts
}

// unseen are the Jobs whose pods are not in the last report: a recording that began earlier has them.
var unseen = []string{"evicted", "evicted.builtin", "pod-deleted", "pod-deleted.builtin", "pods-gone", "pods-gone.builtin"}

// TestReplayReproducesRecordings replays a recording of watch: the report on the Job in its last line.
func TestReplayReproducesRecordings(t *testing.T) {
	same, jobs := 0, 0
	for name, in := range recordedJobs(t) {
		if !reconcile.IsFinished(in.Job) {
			continue
		}
		jobs++
		report := analysis.Explain(in, explain.Options{MaxPods: -1})
		r := &whatif.Recording{}
		r.Add(&report)
		differences := replayed(t, r.Input())
		if len(differences) == 0 {
			same++
		}
		assert.Equal(t, slices.Contains(unseen, name), (len(differences) > 0), name, differences)
	}
	t.Logf("%d of %d reports on Jobs that have finished are reproduced", same, jobs)
}
