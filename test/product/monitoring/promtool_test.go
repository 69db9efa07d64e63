package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// promtool runs $BATCHJOB_PROMTOOL in the folder.
func promtool(t *testing.T, folder string, args ...string) {
	t.Helper()
	binary := os.Getenv("BATCHJOB_PROMTOOL")
	if binary == "" {
		t.Skip("BATCHJOB_PROMTOOL does not say where promtool is: make test-monitoring does")
	}
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// Issue 7: the alerts fire exactly when they should, with the expected texts: testdata/alerts.yaml has the situations.
func TestAlertsFire(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "rules.yaml"), plainRules(t))
	write(t, filepath.Join(folder, "alerts.yaml"), read(t, "testdata/alerts.yaml"))
	promtool(t, folder, "check", "rules", "rules.yaml")
	promtool(t, folder, "test", "rules", "alerts.yaml")
}

// The alerts on Jobs fire with the series of kube-state-metrics.
func TestAlertsOnJobsFire(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "job-alerts.yaml"), read(t, "../../../config/prometheus/job-alerts.yml"))
	write(t, filepath.Join(folder, "test.yaml"), read(t, "testdata/job-alerts.yaml"))
	promtool(t, folder, "check", "rules", "job-alerts.yaml")
	promtool(t, folder, "test", "rules", "test.yaml")
}

// testdata/alerts.yaml tests for every alert that it fires, and that it does not.
func TestAlertsHaveTests(t *testing.T) {
	var file struct {
		Tests []struct {
			AlertRuleTest []struct {
				AlertName string `json:"alertname"`
				ExpAlerts []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	assert.NoError(t, yaml.Unmarshal([]byte(read(t, "testdata/alerts.yaml")), &file))
	type seen struct{ fires, silent bool }
	tests := map[string]seen{}
	for _, test := range file.Tests {
		for _, c := range test.AlertRuleTest {
			s := tests[c.AlertName]
			s.fires, s.silent = s.fires || len(c.ExpAlerts) > 0, s.silent || len(c.ExpAlerts) == 0
			tests[c.AlertName] = s
		}
	}
	for _, alert := range alerts(t) {
		assert.Equal(t, tests[alert.Alert], (seen{true, true}), alert.Alert)
	}
}

// The queries of the dashboard and the runbooks are valid PromQL: promtool parses them as rules.
func TestQueriesAreValid(t *testing.T) {
	var queries []string
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			queries = append(queries, strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$job", ".*").Replace(target.Expr))
		}
	}
	queries = append(queries, runbookQueries(t)...)
	var text strings.Builder
	text.WriteString("groups:\n- name: queries\n  rules:\n")
	for i, q := range queries {
		fmt.Fprintf(&text, "  - {record: 'query:%d', expr: %q}\n", i, q)
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "queries.yaml"), text.String())
	promtool(t, folder, "check", "rules", "queries.yaml")
}
