package docgen

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The reference is the same on every machine: it contains nothing specific to this one.
func TestReferenceIsTheSameEverywhere(t *testing.T) {
	first := Reference(cli.NewCommand())
	t.Setenv("HOME", "/home/somebody-else")
	t.Setenv("KUBECACHEDIR", "/var/cache/elsewhere")
	t.Setenv("KUBECONFIG", "/elsewhere/config")
	assert.Equal(t, Reference(cli.NewCommand()), first, "it differs with another home folder")
	assert.Contains(t, first, "`$HOME/.kube/cache`", "the default of --cache-dir is not there")
}

// ux.md, "Conventions": every verb with usage, examples and flags; exit codes; kubectl's flags once.
func TestReferenceIsComplete(t *testing.T) {
	root := cli.NewCommand()
	text := Reference(root)
	for _, code := range []string{"0 done", "1 error", "2 wrong usage", "3 a Job that was waited for has", "4 it is stalled", "124 timeout", "130 Ctrl-C", "143 SIGTERM"} {
		assert.Contains(t, text, code, "no exit code")
	}
	for _, verb := range root.Commands() {
		if verb.Name() == "help" {
			continue
		}
		_, section, found := strings.Cut(text, "\n## "+verb.Name()+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !strings.Contains(section, dedent(verb.Example)) || !strings.Contains(section, "kubectl batchjob "+verb.Name()) {
			t.Errorf("%s: no section with usage and examples", verb.Name())
		}
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			own := !f.Hidden && f.Name != "help" && help.GroupOf(f) != help.KubectlFlags
			if row := strings.Contains(section, "--"+f.Name+"`") || strings.Contains(section, "--"+f.Name+" "+help.ValueOf(f)+"`"); row != own {
				t.Errorf("%s --%s: in its section %t, want %t", verb.Name(), f.Name, row, own)
			}
		})
	}
	assert.Equal(t, strings.Count(text, "`--as-group "), 1, "--as-group is explained")
	if i, j := strings.Index(text, "## status\n"), strings.Index(text, "## controller\n"); i < 0 || j < i {
		t.Error("verbs are not in the order of help")
	}
}

func TestProseIsEscaped(t *testing.T) {
	for long, want := range map[string]string{
		"One <two> [three]\n":                  "One &lt;two> \\[three]\n",
		"Codes:\n  0  *done*\n  1  error\nEnd": "Codes:\n\n```\n0  *done*\n1  error\n```\nEnd\n",
		"A:\n\n  x:\n    y: z\n\n  w\n\nB":     "A:\n\n```\nx:\n  y: z\n\nw\n```\n\nB\n",
	} {
		assert.Equal(t, prose(long), want, long)
	}
	assert.Equal(t, inCell("a|b *c*\nd"), `a\|b \*c\*<br>d`, "cell")
}

// CLI-04: every field of a JobExplanation is described, and every value of its words.
func TestFieldsAndValuesAreDescribed(t *testing.T) {
	text, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Report", "ReportList")
	assert.NoError(t, err)
	for _, want := range []string{
		"## Report\n", "## ReportList\n", "## Verdict\n", "## IndexInfo\n",
		"| `verdict` | [Verdict](#verdict) |",
		"| `pods` | list of [PodInfo](#podinfo) | Pods are the pods of the Job",
		"| `kind` | [ProblemKind](#problemkind) |",
		"| `CreationRefused` | quota, admission, RBAC: FailedCreate |",
		"| `Open` | nothing is decided |",
		"| `until` | time |",
	} {
		assert.Contains(t, text, want, "there is no")
	}
	for name, times := range map[string]int{"\n## Cause\n": 1, "container string": 0, "| `` |": 0} {
		assert.Equalf(t, strings.Count(text, name), times, "%q is there", name)
	}
}

func TestUnknownTypeIsAnError(t *testing.T) {
	if _, err := Fields([]string{"../../../pkg/explain", "../../../pkg/cause", "../../../pkg/reconcile"}, "Rapport"); err == nil {
		t.Error("a type that does not exist is described")
	}
}
