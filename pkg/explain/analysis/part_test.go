package analysis_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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
