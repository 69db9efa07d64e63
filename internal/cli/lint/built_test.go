package lint

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Findings about the output of a kustomization name the object, as its fields come from several files.
// Requirements: CLI-61
func TestLintBuildsKustomizations(t *testing.T) {
	folder := clitest.WriteKustomization(t, clitest.PlainJob+"  backoffLimit: -1\n")
	got := program.Run(t, nil, "lint", "-k", folder)
	want := "Job/prod-a (kustomization " + folder + "): error: backoffLimit is -1 [negative]\n    fix: use 0 or more\n"
	got.Is(t, cmdutil.ExitError, want, "error: 1 error in 1 Job\n")
	got = program.Run(t, nil, "lint", "-k", folder, "-o", "sarif")
	if !strings.Contains(got.Out, `"uri": "file://`+folder+`/kustomization.yaml"`) || !strings.Contains(got.Out, `"fullyQualifiedName": "Job/prod-a"`) {
		t.Errorf("%s", got.Out)
	}
}
