package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func TestHelpNamesTheCommandAsKubectlBatchjob(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"status", "--help"}, {"version", "--help"}} {
		got := program.Run(t, nil, args...)
		if got.Code != 0 || got.ErrOut != "" {
			t.Errorf("%v: exit %d, stderr %q", args, got.Code, got.ErrOut)
		}
		if !strings.Contains(got.Out, "kubectl batchjob") || strings.Contains(got.Out, "  kubectl-batchjob") {
			t.Errorf("%v: usage does not read kubectl batchjob:\n%s", args, got.Out)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	for _, tc := range []struct{ args, help string }{
		{"nonsense", "kubectl batchjob --help"},
		{"statsu", "kubectl batchjob --help"},
		{"--bogus", "kubectl batchjob --help"},
		{"status --bogus", "kubectl batchjob status --help"},
		{"status -o", "kubectl batchjob status --help"},
		{"status -o xml", "kubectl batchjob status --help"},
		{"status -o jsonpath", "kubectl batchjob status --help"},
		{"status -A name", "kubectl batchjob status --help"},
		{"status -l a=b name", "kubectl batchjob status --help"},
		{"status -l a=b,,", "kubectl batchjob status --help"},
		{"status jobset/x", "kubectl batchjob status --help"},
		{"status job/", "kubectl batchjob status --help"},
		{"status job/a/b", "kubectl batchjob status --help"},
		{"status ..", "kubectl batchjob status --help"},
		{"status -n ..", "kubectl batchjob status --help"},
		{"status --request-timeout=x", "kubectl batchjob status --help"},
		{"version -o xml", "kubectl batchjob version --help"},
		{"version extra", "kubectl batchjob version --help"},
		{"version --kubeconfig x", "kubectl batchjob version --help"},
	} {
		got := program.Run(t, nil, strings.Fields(tc.args)...)
		if got.Code != cmdutil.ExitUsage || cmdutil.KindOf(got.Err) != cmdutil.KindUsage {
			t.Errorf("%s: exit %d, kind %s (%v)", tc.args, got.Code, cmdutil.KindOf(got.Err), got.Err)
		}
		if got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, tc.help) {
			t.Errorf("%s: stdout %q, stderr %q", tc.args, got.Out, got.ErrOut)
		}
	}
}

// Verbs that users know from kubectl lead to the verbs here (issue 17).
func TestVerbsOfKubectlLeadToThoseHere(t *testing.T) {
	for args, want := range map[string]string{
		"get":         `unknown command "get", did you mean status`,
		"get jobs":    `unknown command "get", did you mean status`,
		"describe x":  `unknown command "describe", did you mean status or why`,
		"apply":       `unknown command "apply", did you mean create`,
		"log x":       `unknown command "log", did you mean logs`,
		"validate":    `unknown command "validate", did you mean lint`,
		"delete x":    `unknown command "delete"; use: kubectl delete job NAME`,
		"suspend x":   `unknown command "suspend"; use: kubectl patch job NAME -p '{"spec":{"suspend":true}}'`,
		"resume x":    `unknown command "resume"; use: kubectl patch job NAME -p '{"spec":{"suspend":false}}'`,
		"restart x":   `unknown command "restart", did you mean retry`,
		"prune":       `unknown command "prune", did you mean clean`,
		"rerun x":     `unknown command "rerun", did you mean retry or run`,
		"nonsense":    `unknown command "nonsense"; see`,
		"status jobs": `job "jobs" not found in namespace "ns1"; for all Jobs, omit "jobs": kubectl batchjob status -n ns1`,
		"status job":  `job "job" not found in namespace "ns1"; for all Jobs, omit "job"`,
	} {
		got := program.Run(t, clitest.NewAPI(t), strings.Fields(args)...)
		if !strings.HasPrefix(got.ErrOut, "error: "+want) || strings.Count(got.ErrOut, "\n") != 1 {
			t.Errorf("%s: stderr %q, want %q", args, got.ErrOut, want)
		}
	}
}

func TestUnknownOutputListsAllowed(t *testing.T) {
	got := program.Run(t, clitest.NewAPI(t), "status", "-o", "xml").ErrOut
	for _, format := range []string{"wide", "json", "yaml", "name"} {
		assert.Contains(t, got, format)
	}
}

func TestVersion(t *testing.T) {
	t.Setenv("KUBECONFIG", "/absent") // must not be read
	text := program.Run(t, nil, "version")
	for _, part := range []string{"Version:", "Git commit:", "Go version: go", "Platform:"} {
		assert.Contains(t, text.Out, part)
	}
	for _, format := range []string{"json", "yaml"} {
		got := program.Run(t, nil, "version", "-o", format)
		var info cmdutil.VersionInfo
		if format == "json" && json.Unmarshal([]byte(got.Out), &info) != nil {
			t.Errorf("not JSON: %q", got.Out)
		}
		assert.NoError(t, yaml.UnmarshalStrict([]byte(got.Out), &info), format)
		if info != cmdutil.CurrentVersion() || info.Kind != "Version" || info.APIVersion != "batchjob.dev/v1alpha1" {
			t.Errorf("%s: %+v", format, info)
		}
	}
}

func TestCompletion(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "alpha", 0), clitest.SimpleJob("ns1", "beta", 0), clitest.SimpleJob("ns2", "gamma", 0), clitest.SimpleJob("ns1", "a\x1b", 0))
	program.Completes(t, api, map[string]string{
		"status|":           "alpha beta :4",
		"status|al":         "alpha :4",
		"status|alpha|":     "beta :4",
		"status|job/":       "job/alpha job/beta :4",
		"status|pod/":       " :4",
		"status|-n|ns2|":    "gamma :4",
		"status|-A|":        " :4",
		"status|-n|":        "ns1 ns2 :4",
		"status|--context|": "other test :4",
		"status|-o|js":      "json jsonpath jsonpath-as-json jsonpath-file :4",
		"version|-o|":       "json yaml :4",
		"version|":          " :4",
		"sta":               "status :4",
	})
	for _, shell := range []string{"bash", "zsh", "fish"} {
		program.Run(t, nil, "completion", shell).Prints(t, 0, "kubectl-batchjob")
	}
}

func TestCompletionIsSilentWithoutCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	got := program.Run(t, nil, "__complete", "status", "")
	if got.Code != 0 || got.Out != ":4\n" || strings.Contains(got.ErrOut, "error") {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
}
