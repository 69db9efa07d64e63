package analysis_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// The answer about an index or a pod is about it, headline included, and has at most 12 lines.
// Requirements: CLI-76
func TestAnswerAboutAPartIsAboutThePart(t *testing.T) {
	for name, tc := range map[string]struct {
		part        explain.Options
		starts, has string
		hasNot      []string
	}{
		"failed-indexes": {
			explain.Options{Indexes: indexset.Of(2)}, "✗ index 2 of failed-indexes failed twice: container main exited with code 1\n",
			"kubectl batchjob retry failed-indexes --indexes 2 -n failed-indexes", nil,
		},
		"three-causes": {
			explain.Options{Indexes: indexset.Of(5)}, "✗ index 5 of three-causes failed: container main exited with code 42: shard 5:\n  checksum mismatch\n",
			"Job   three-causes failed after 4s (0s ago): 60 of 60 indexes failed", []string{"137", "code 1\n"},
		},
		"index-backoff": {
			explain.Options{Indexes: indexset.Of(1)}, "▶ index 1 of index-backoff is running", "Job ", []string{"Rerun"},
		},
	} {
		c, err := recorded.Load(filepath.Join("testdata", "recorded", name+".yaml"))
		assert.NoError(t, err)
		r := analysis.Explain(c.Inputs[0], tc.part)
		var b strings.Builder
		assert.NoError(t, text.Part(&b, r, tc.part, text.Options{Width: 80}))
		got := b.String()
		if !strings.HasPrefix(got, tc.starts) || !strings.Contains(got, tc.has) || strings.Count(got, "\n") > 12 {
			t.Errorf("%s:\n%s", name, got)
		}
		for _, not := range tc.hasNot {
			assert.NotContains(t, got, not, name)
		}
	}
}

// CLI-04: --index and --pod do not change the verdict on the Job.
func TestFocusLeavesTheVerdict(t *testing.T) {
	f := explaintest.InputOf(explaintest.IndexedJob(3, func(j *batchv1.Job) {
		j.Status.Failed, j.Status.FailedIndexes = 2, ptr.To("2")
		explaintest.FailJob(j, "FailedIndexes", "")
	}), explaintest.PodOf("good", explaintest.OnIndex(0, 1, explaintest.Exits(7, "Error", 20*time.Minute))), explaintest.PodOf("bad", explaintest.OnIndex(2, 4, explaintest.Exits(9, "Error", 11*time.Minute))))
	whole := explaintest.Report(f)
	r := analysis.Explain(f, explain.Options{Indexes: indexset.Of(0)})
	if explaintest.Verdict(r) != explaintest.Verdict(whole) || !strings.Contains(explaintest.Verdict(r), "code 9") {
		t.Errorf("%s; of all: %s", explaintest.Verdict(r), explaintest.Verdict(whole))
	}
	if len(r.Causes) != 1 || *r.Causes[0].ExitCode != 7 || len(r.Pods) != 1 || len(r.Indexes.Details) != 1 {
		t.Errorf("%+v", r)
	}
	r = analysis.Explain(f, explain.Options{Indexes: indexset.Of(1)})
	explaintest.WantWithout(t, r, "let nothing delete failed pods")
}
