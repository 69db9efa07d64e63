package lint

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// knownInfos returns the expected infos about documented manifests; for most, the documentation of Kubernetes itself
// says the same.
func knownInfos() []string {
	return []string{
		"kubernetes/active-deadline.yaml deadline-before-retries",
		"kubernetes/cronjob.yaml log-lost-at-limit",
		"kubernetes/work-queue-rabbitmq.yaml log-lost-at-limit",
		"kubernetes/work-queue-redis.yaml log-lost-at-limit",
		"kueue/cronjob.yaml forbid-without-deadline",
		"kueue/cronjob.yaml log-lost-at-limit",
	}
}

// The manifests show, in our own words, the examples in the documentation of Kubernetes, JobSet and Kueue.
// Requirements: LNT-02
func TestDocumentedManifestsHaveNoErrorsAndNoWarnings(t *testing.T) {
	const root = "testdata/documented"
	files := 0
	if err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := program.Run(t, nil, "lint", "-R", "-f", root, "--strict", "-o", "json")
	var result lintResult
	assert.NoError(t, json.Unmarshal([]byte(got.Out), &result), got.Out, got.ErrOut)
	if got.Code != cmdutil.ExitDone || result.Summary.Jobs < files || files < 40 {
		t.Errorf("exit %d, %d files, %+v", got.Code, files, result.Summary)
	}
	var infos []string
	for _, f := range result.Findings {
		file, err := filepath.Rel(root, f.File)
		assert.NoError(t, err)
		if f.Severity != "info" {
			t.Errorf("%s:%d: %s %s: %s", file, f.Line, f.Severity, f.ID, f.Message)
			continue
		}
		infos = append(infos, file+" "+f.ID)
	}
	assert.SlicesEqual(t, infos, knownInfos(), "infos")
}
