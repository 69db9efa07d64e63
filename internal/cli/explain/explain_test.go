package explain

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Wrong usage is reported before all other errors, and without a request.
// Requirements: CLI-04
func TestWrongUsageSendsNoRequest(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent/kubeconfig")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	program.Rejects(t, nil, "why", map[string]string{
		"a -A":                  "across all namespaces",
		"a -l x=y":              "selector",
		"-l x==!":               "--selector",
		"a -o wide":             `"wide"`,
		"a -o json=":            "unknown output format",
		"a --log-lines -1":      "--log-lines",
		"a --log-lines x":       "--log-lines",
		"a --pod p --index 1":   "cannot be used together",
		"a b --pod p":           "require a single named Job",
		"-l x=y --index 1":      "require a single named Job",
		"cronjob/x --index 1":   "require a single named Job",
		"a --index x":           "--index=x",
		"a --index -1":          "--index=-1",
		"a --index 1,":          "--index=1,",
		"a --index 99999999999": "--index=99999999999",
		"a --color sometimes":   "--color",
		"pod/a b":               "name one pod",
		"pod/a pod/b":           "name one pod",
		"pod/a --pod b":         "name one pod",
		"pod/":                  "names no pod",
		"a --list":              "--list requires -o",
		"secret/a":              `"secret/a" is not a Job`,
		"job/":                  "no Job name",
		"cronjob/":              "names no CronJob",
		"jobset/a/b":            "names no JobSet",
		"a/../b":                "",
		"a --nonsense":          "--nonsense",
	})
}

// JSON and YAML contain the values as stored in the cluster; text for a terminal is escaped.
// Requirements: CLI-04
func TestHostileTextIsSafeOnATerminal(t *testing.T) {
	o := clitest.NewExplained(t)
	hostile := "\x1b[2J\u202eevil\r"
	o.Pods.Put(clitest.EndedPod(clitest.ExplainedJob("ns1", "train"), "train-a", 42, hostile))
	o.Pods.Write("train-a/main", "\x1b]0;title\x07")
	for _, format := range []string{"json", "yaml"} {
		got := program.Run(t, o.API, "why", "train", "-o", format)
		data, err := yaml.YAMLToJSON([]byte(got.Out))
		if err != nil || got.Code != 0 {
			t.Fatalf("%s: exit %d, %v", format, got.Code, err)
		}
		var r explain.Report
		assert.NoError(t, json.Unmarshal(data, &r))
		if r.Kind != "JobExplanation" || r.APIVersion != "batchjob.dev/v1alpha1" || r.Verdict.RuleName != "Corrupt" || *r.Verdict.Rule != 0 {
			t.Errorf("%s: %s %s %+v", format, r.APIVersion, r.Kind, r.Verdict)
		}
		var lines []string
		for _, e := range r.Evidence {
			lines = append(lines, e.Lines...)
		}
		if !slices.Contains(lines, "\x1b]0;title\x07") || r.Causes[0].Message != strings.TrimSpace(hostile) {
			t.Errorf("%s: %q, %q", format, lines, r.Causes[0].Message)
		}
	}
	for _, args := range []string{"why train", "why -l app=train", "status train"} {
		got := program.Run(t, o.API, strings.Fields(args)...)
		if strings.ContainsAny(got.Out, "\x1b\x07\r\u202e") || !strings.Contains(got.Out, `\x1b`) && !strings.HasPrefix(args, "status") {
			t.Errorf("%s: %q", args, got.Out)
		}
	}
}
