package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// folder writes files, whose names may contain folders.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		assert.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

const jobPatch = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {backoffLimit: 2}\n"

// Fields missing from a patch are in its base, and a kustomization is not a manifest.
// Requirements: LNT-02
func TestKustomizationsAndPatchesAreNoManifests(t *testing.T) {
	const hint = "patch of kustomizations skipped, check the result: kubectl batchjob lint -k DIR\n"
	for name, c := range map[string]struct {
		files  map[string]string
		out    string
		errOut string
	}{
		"patches": {
			map[string]string{"kustomization.yaml": "resources: [base.yaml]\npatches:\n- path: patch.yaml\n", "patch.yaml": jobPatch, "base.yaml": clitest.PlainJob},
			"", "no findings in 1 Job; 1 object of other kinds skipped; 1 " + hint,
		},
		"patchesStrategicMerge": {
			map[string]string{"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatchesStrategicMerge:\n- patch.yaml\n- |\n  kind: Job\n", "patch.yaml": jobPatch},
			"", "no findings; 1 object of other kinds skipped; 1 " + hint,
		},
		"in a folder below": {
			map[string]string{"prod/kustomization.yml": "patches:\n- path: patches/job.yaml\n", "prod/patches/job.yaml": jobPatch},
			"", "no findings; 1 object of other kinds skipped; 1 " + hint,
		},
		"in another folder": {
			map[string]string{"prod/kustomization.yaml": "patches:\n- path: ../patches/job.yaml\n", "patches/job.yaml": jobPatch},
			"", "no findings; 1 object of other kinds skipped; 1 " + hint,
		},
		"JSON patches": {
			map[string]string{"ops.yaml": "- op: replace\n  path: /spec/backoffLimit\n  value: 2\n", "job.yaml": clitest.PlainJob},
			"", "no findings in 1 Job; 1 " + hint,
		},
		"not a patch of it": {
			map[string]string{"kustomization.yaml": "resources: [job.yaml]\n", "job.yaml": jobPatch},
			"no-containers", "error: ",
		},
		"a list of something else": {
			map[string]string{"list.yaml": "- a: b\n"},
			"", "no findings; 1 file without Kubernetes objects skipped\n",
		},
		"a kustomization that cannot be read": {
			map[string]string{"kustomization.yaml": "resources: [\n"},
			"not readable as YAML", "error: 1 error\n",
		},
	} {
		got := program.Run(t, nil, "lint", "-R", "-f", folder(t, c.files))
		if !strings.Contains(got.Out, c.out) || c.out == "" && got.Out != "" || !strings.HasPrefix(got.ErrOut, c.errOut) || (got.Code == cmdutil.ExitDone) != (c.out == "") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, got.Code, got.Out, got.ErrOut)
		}
	}
}

// A patch is recognized even if it is the only file given.
// Requirements: LNT-02
func TestAFileThatIsAPatchIsSkipped(t *testing.T) {
	root := folder(t, map[string]string{"prod/kustomization.yaml": "patches:\n- path: patches/job.yaml\n", "prod/patches/job.yaml": jobPatch})
	got := program.Run(t, nil, "lint", "-f", filepath.Join(root, "prod/patches/job.yaml"), "-o", "json")
	got.Prints(t, cmdutil.ExitDone, `"patches": 1`, `"findings": []`)
}

// Overlays define the same Job for several clusters.
// Requirements: LNT-02
func TestOneNameInTwoFoldersIsNoFinding(t *testing.T) {
	root := folder(t, map[string]string{"staging/job.yaml": clitest.PlainJob, "prod/job.yaml": clitest.PlainJob})
	if got := program.Run(t, nil, "lint", "-R", "-f", root); got.Out != "" || summaryOf(got) != "no findings in 2 Jobs\n" {
		t.Errorf("%s%s", got.Out, got.ErrOut)
	}
	root = folder(t, map[string]string{"a.yaml": clitest.PlainJob, "b.yaml": clitest.PlainJob})
	if got := program.Run(t, nil, "lint", "-R", "-f", root); !strings.Contains(got.Out, "object-twice") || summaryOf(got) != "1 warning in 2 Jobs\n" {
		t.Errorf("%s%s", got.Out, got.ErrOut)
	}
}
