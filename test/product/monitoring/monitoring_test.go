// Package monitoring has only tests: they compare the alerts and the dashboard in config/prometheus, and
// docs/monitoring.md, with the metrics that the controller serves, and run promtool's unit tests of the alerts (make
// test-monitoring).
package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const (
	folder    = "../../../config/prometheus/"
	rulesFile = folder + "rules.yaml"
	// scrapeJob is the name of the Service; the operator uses it as the label job.
	scrapeJob = "batchjob-controller-metrics"
	runbooks  = "https://github.com/batchjob-dev/kubectl-batchjob/blob/main/docs/monitoring.md#"
)

type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NoError(t, err)
	return string(text)
}

// plainRules returns the rule file for a Prometheus without the operator, made as described in docs/monitoring.md: the
// content of spec, indented by two columns less.
func plainRules(t *testing.T) string {
	t.Helper()
	_, spec, found := strings.Cut(read(t, rulesFile), "\nspec:\n")
	if !found {
		t.Fatal("the rules have no spec")
	}
	return regexp.MustCompile(`(?m)^  `).ReplaceAllString(spec, "")
}

func alerts(t *testing.T) (all []rule) {
	t.Helper()
	var file ruleFile
	assert.NoError(t, yaml.UnmarshalStrict([]byte(plainRules(t)), &file))
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) < 9 {
		t.Fatalf("only %d alerts", len(all))
	}
	return all
}

// check reports metrics and labels in an expression that are not served, and returns the expression's labels.
func (s series) check(t *testing.T, where, expression string) (labels []string) {
	t.Helper()
	q, err := parse(expression)
	assert.NoError(t, err, where, expression)
	for _, selector := range q.selectors {
		if _, there := s[selector.metric]; !there {
			t.Errorf("%s: the controller serves no %s", where, selector.metric)
			continue
		}
		// kube-controller-manager has metrics with the same names.
		if !slices.Contains(selector.matchers, "job") {
			t.Errorf("%s: %s is not limited to our job", where, selector.metric)
		}
		for _, label := range selector.matchers {
			if !s.has(selector.metric, label) {
				t.Errorf("%s: %s has no label %s", where, selector.metric, label)
			}
		}
	}
	for _, label := range q.labels {
		if !slices.ContainsFunc(q.selectors, func(one selector) bool { return s.has(one.metric, label) }) {
			t.Errorf("%s: nothing has the label %s", where, label)
		}
	}
	return q.labels
}

// Issue 7: every alert queries served metrics and has all fields that the person on call needs.
func TestAlertsQueryServedMetrics(t *testing.T) {
	served := served(t)
	for _, alert := range alerts(t) {
		labels := append(served.check(t, alert.Alert, alert.Expr), "job")
		if !strings.Contains(alert.Expr, `job="`+scrapeJob+`"`) || strings.Contains(strings.ReplaceAll(alert.Expr, `job="`+scrapeJob+`"`, ""), "job=") {
			t.Errorf("%s: the job is not %s everywhere", alert.Alert, scrapeJob)
		}
		if alert.For == "" || !slices.Contains([]string{"critical", "warning", "info"}, alert.Labels["severity"]) {
			t.Errorf("%s: for %q, severity %q", alert.Alert, alert.For, alert.Labels["severity"])
		}
		summary, description := alert.Annotations["summary"], alert.Annotations["description"]
		if summary == "" || !strings.Contains(description, "{{") {
			t.Errorf("%s: summary %q, and a description without values: %q", alert.Alert, summary, description)
		}
		for _, label := range templateLabels(summary + description) {
			if !slices.Contains(labels, label) {
				t.Errorf("%s: its text tells the label %s, which it has not", alert.Alert, label)
			}
		}
		for _, q := range templated(description) {
			served.check(t, alert.Alert+", description", q)
			// A second controller in another namespace of the cluster has the same job.
			assert.Equal(t, strings.Count(q, "{"), strings.Count(q, "namespace='x'"), alert.Alert, q)
		}
	}
}

// Issue 7: every alert has its own runbook, and every runbook belongs to an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	var want []string
	for _, alert := range alerts(t) {
		want = append(want, alert.Alert)
		assert.Equalf(t, alert.Annotations["runbook_url"], runbooks+strings.ToLower(alert.Alert), "%s has its runbook at", alert.Alert)
	}
	page := read(t, "../../../docs/monitoring.md")
	var got []string
	for _, heading := range regexp.MustCompile(`(?m)^### (BatchJob[A-Za-z]*)$`).FindAllStringSubmatchIndex(page, -1) {
		got = append(got, page[heading[2]:heading[3]])
		section, _, _ := strings.Cut(page[heading[1]:], "\n### ")
		for _, part := range []string{"**What it means.**", "**What users notice.**", "**Look.**", "**Likely causes.**", "**Do.**", "**It resolves**"} {
			assert.Contains(t, section, part, got[len(got)-1])
		}
	}
	assert.SlicesEqual(t, got, want, "runbooks are of")
	if contents := regexp.MustCompile(`\(#(batchjob[a-z]+)\)`).FindAllString(page, -1); len(contents) < len(want) {
		t.Errorf("the page links to %d of its sections", len(contents))
	}
	served := served(t)
	for _, q := range runbookQueries(t) {
		served.check(t, "docs/monitoring.md", q)
	}
}

// runbookQueries returns the queries in PromQL blocks, one per line.
func runbookQueries(t *testing.T) (queries []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```promql\n(.*?)```").FindAllStringSubmatch(read(t, "../../../docs/monitoring.md"), -1) {
		queries = append(queries, strings.FieldsFunc(block[1], func(r rune) bool { return r == '\n' })...)
	}
	return queries
}

type dashboard struct {
	UID           string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type, Definition string
		}
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ UID string }
	GridPos                  struct{ H, W, X, Y int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct{ Expr, LegendFormat, RefID string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	assert.NoError(t, json.Unmarshal([]byte(read(t, folder+"grafana-dashboard.json")), &d))
	return d
}

// Issue 7: every panel queries served metrics and has a description and a unit.
func TestPanelsQueryServedMetrics(t *testing.T) {
	served, d := served(t), readDashboard(t)
	var rows, variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if metric, is := strings.CutPrefix(v.Definition, "label_values("); is {
			name := regexp.MustCompile(`^[a-z_]+`).FindString(metric)
			if _, there := served[name]; !there {
				t.Errorf("variable %s: the controller serves no %s", v.Name, name)
			}
		}
	}
	if !slices.Equal(variables, []string{"datasource", "namespace", "job"}) || d.SchemaVersion < 41 || d.UID == "" {
		t.Errorf("variables %v, schema %d, uid %q", variables, d.SchemaVersion, d.UID)
	}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for _, other := range d.Panels[:i] {
			if p.overlaps(other) {
				t.Errorf("%q lies on %q", p.Title, other.Title)
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		p.check(t, served)
	}
	assert.SlicesEqual(t, rows, []string{"Health", "Work", "Exactness", "Cost", "Shards"}, "rows")
}

func (p panel) overlaps(o panel) bool {
	a, b := p.GridPos, o.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func (p panel) check(t *testing.T, served series) {
	t.Helper()
	if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
		t.Errorf("panel %q: description %q, unit %q, %d queries", p.Title, p.Description, p.FieldConfig.Defaults.Unit, len(p.Targets))
	}
	assert.Equalf(t, p.Datasource.UID, "${datasource}", "panel %q reads from", p.Title)
	for _, target := range p.Targets {
		labels := served.check(t, p.Title, target.Expr)
		if !strings.Contains(target.Expr, `job=~"$job"`) || !strings.Contains(target.Expr, `namespace=~"$namespace"`) {
			t.Errorf("panel %q does not follow the variables: %s", p.Title, target.Expr)
		}
		for _, shown := range regexp.MustCompile(`\{\{([a-zA-Z_]+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
			if !slices.Contains(labels, shown[1]) {
				t.Errorf("panel %q: its legend tells the label %s, which is summed away", p.Title, shown[1])
			}
		}
	}
}

// docs/monitoring.md lists exactly the controller's metrics.
// Requirements: JOB-52
func TestMetricsTableIsComplete(t *testing.T) {
	page := read(t, "../../../docs/monitoring.md")
	served := series{}
	served.addOwn(t)
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile("(?m)^\\| `job_controller_([a-z_]+)`").FindAllStringSubmatch(page, -1) {
		documented["job_controller_"+name[1]] = true
	}
	for name := range served {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !documented[base] {
			t.Errorf("docs/monitoring.md does not tell of %s", base)
		}
	}
	for name := range documented {
		_, there := served[name]
		if _, histogram := served[name+"_bucket"]; !there && !histogram {
			t.Errorf("docs/monitoring.md tells of %s, which is not served", name)
		}
	}
}
