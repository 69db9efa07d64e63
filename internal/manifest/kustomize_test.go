package manifest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// overlay writes a base with a Job and an overlay that changes it, and returns their parent folder.
func overlay(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"base/kustomization.yaml": "resources: [job.yaml, account.yaml]\n",
		"base/job.yaml":           "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec: {backoffLimit: 3}\n",
		"base/account.yaml":       "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: runner}\n",
		"prod/kustomization.yaml": "resources: [../base]\nnamePrefix: prod-\n",
		"bad/kustomization.yaml":  "resources: [gone.yaml]\n",
	} {
		path := filepath.Join(root, name)
		assert.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// Requirements: CLI-61. Objects come in kubectl's order, accounts before Jobs, and have no lines.
func TestKustomizationsAreBuilt(t *testing.T) {
	root := overlay(t)
	t.Chdir(root)
	objects, problems := ReadKustomization(context.Background(), "prod")
	if len(problems) > 0 || len(objects) != 2 {
		t.Fatalf("%v, %v", objects, problems)
	}
	if objects[0].Kind() != "ServiceAccount" || objects[1].Name() != "prod-migrate" || objects[1].Content["spec"].(map[string]any)["backoffLimit"] != int64(3) {
		t.Errorf("%v, %v", objects[0].Content, objects[1].Content)
	}
	assert.Equal(t, objects[1].Position("spec.backoffLimit").String(), "Job/prod-migrate (kustomization prod)")
	for folder, want := range map[string]string{
		"gone":          "kustomization gone: the folder does not exist",
		".":             "kustomization .: unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '.'",
		"base/job.yaml": "kustomization base/job.yaml: this is a file; name the folder that has it",
		"bad":           "kustomization bad: accumulating resources: ",
	} {
		objects, problems := ReadKustomization(context.Background(), folder)
		if len(objects) > 0 || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), want) || strings.Contains(problems[0].Error(), root) || strings.Contains(problems[0].Error(), "\n") {
			t.Errorf("%s: %v", folder, problems)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, problems := ReadKustomization(ended, "prod"); len(problems) != 1 || !errors.Is(problems[0], context.Canceled) {
		t.Error(problems)
	}
}
