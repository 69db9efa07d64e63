package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const base = `
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}, {name: side, image: i}]
`

// read returns the fields of an object in YAML.
func read(t *testing.T, object string) map[string]any {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(object))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	assert.NoError(t, err, object)
	return u.Object
}

// look returns the findings as severity, id and field; "!" marks objects that the API server rejects.
func look(t *testing.T, object string, names rulename.Names) []string {
	t.Helper()
	var got []string
	for _, f := range Check(Input{Object: read(t, object), Names: names}) {
		text := fmt.Sprintf("%s %s %s", f.Severity, f.ID, f.Field)
		if f.Rejected {
			text = "!" + text
		}
		got = append(got, text)
		if f.Message == "" || f.Fix == "" || strings.ContainsAny(f.Message+f.Fix, "\n") || f.Rejected && f.Severity != Error {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(got)
	return got
}

// Requirements: CLI-05
func TestUnknownFieldsNameTheSimilarOne(t *testing.T) {
	for _, tc := range []struct{ object, message, fix string }{
		{strings.Replace(base, "spec:\n", "spec:\n  backofLimit: 3\n", 1), "batch/v1 has no field spec.backofLimit, did you mean backoffLimit", "write backoffLimit, or remove it"},
		{strings.Replace(base, "restartPolicy: Never", "restartpolicy: Never", 1), "batch/v1 has no field spec.template.spec.restartpolicy, did you mean restartPolicy", "write restartPolicy, or remove it"},
		{strings.Replace(base, "image: ", "comand: [x], image: ", 1), "batch/v1 has no field spec.template.spec.containers[0].comand, did you mean command", "write command, or remove it"},
		{strings.Replace(base, "spec:\n", "spec:\n  flavor: sweet\n", 1), "batch/v1 has no field spec.flavor", "correct the name, or remove it"},
	} {
		found := Check(Input{Object: read(t, tc.object)})
		if len(found) == 0 || found[0].Message != tc.message || found[0].Fix != tc.fix {
			t.Errorf("%s\n%+v", tc.object, found)
		}
	}
}

type specCase struct {
	spec string // lines, two spaces deep
	want []string
}

// checkSpecs checks the findings of specs, ignoring these IDs.
func checkSpecs(t *testing.T, cases []specCase, without ...string) {
	t.Helper()
	for _, c := range cases {
		slices.Sort(c.want)
		got := slices.DeleteFunc(look(t, base+"  "+c.spec, nil), func(f string) bool { return slices.Contains(without, strings.Fields(f)[1]) })
		assert.SlicesEqual(t, got, c.want, c.spec)
	}
}

const (
	indexed = "completionMode: Indexed\n  completions: 5\n  "
	rules   = "podFailurePolicy:\n    rules:\n    - "
	another = "\n    - "
)

func exit(action, on string) string { return "{action: " + action + ", onExitCodes: {" + on + "}}" }

// Only findings that the API server accepts: the others are in test/cluster/integration/lint_test.go.
// Requirements: BLI-21, BLI-40
func TestOddLimitsAreReported(t *testing.T) {
	checkSpecs(t, []specCase{
		{"", nil},
		{"completions: 0", []string{"info no-completions spec.completions"}},
		{"parallelism: 0", []string{"info no-parallelism spec.parallelism"}},
		{"completions: 2\n  parallelism: 3", []string{"info parallelism-above-completions spec.parallelism"}},
		{"completions: 2\n  parallelism: 2", nil},
		{"completionMode: Indexed\n  completions: 100001\n  parallelism: 10001", []string{"warning status-too-large spec.parallelism"}},
		{"completionMode: Indexed\n  completions: 100001\n  parallelism: 10000", nil},
		{indexed + "backoffLimitPerIndex: 1\n  backoffLimit: 9", []string{"warning both-limits spec.backoffLimit"}},
		{indexed + "backoffLimitPerIndex: 1\n  backoffLimit: 10", []string{"info both-limits spec.backoffLimit"}},
		{indexed + "backoffLimitPerIndex: 1\n  maxFailedIndexes: 5", []string{"warning max-failed-never-exceeded spec.maxFailedIndexes"}},
		{indexed + "backoffLimitPerIndex: 1\n  maxFailedIndexes: 4", nil},
		{"activeDeadlineSeconds: 0", []string{"error deadline-zero spec.activeDeadlineSeconds"}},
		{"activeDeadlineSeconds: 1000\n  suspend: true", nil},
		{"ttlSecondsAfterFinished: 0", []string{"info ttl-zero spec.ttlSecondsAfterFinished"}},
		{"managedBy: batchjob.dev/controller", nil},
		{"managedBy: example.com/other", nil},
		{"managedBy: batchjob.dev/contoller", []string{"warning managed-by-misspelled spec.managedBy"}},
		{"manualSelector: true\n  selector: {}", []string{"warning selector-manual spec.manualSelector"}},
	})
	onFailure := strings.Replace(base, "Never", "OnFailure", 1) + "  " + indexed + "backoffLimitPerIndex: 1"
	if got := look(t, onFailure, nil); !slices.Equal(got, []string{"info log-lost-at-limit spec.template.spec.restartPolicy", "warning limit-per-index-on-failure spec.backoffLimitPerIndex"}) {
		t.Errorf("%q", got)
	}
}

// Only the first matching rule counts (PFP-02); 0 never matches (PFP-03); no containerName means any container.
// Requirements: PFP-04
func TestRulesThatNeverMatchAreReported(t *testing.T) {
	never := func(rule string) string {
		return "warning rule-never-matches spec.podFailurePolicy.rules[" + rule + "]"
	}
	code := func(rule, at string) string {
		return "info exit-code-never-reached spec.podFailurePolicy.rules[" + rule + "].onExitCodes.values[" + at + "]"
	}
	all := exit("FailJob", "operator: NotIn, values: [0]")
	checkSpecs(t, []specCase{
		{rules + exit("FailJob", "operator: In, values: [1]") + another + all, nil},
		{rules + all + another + exit("Count", "operator: In, values: [1]"), []string{never("1")}},
		{rules + all + another + exit("Count", "operator: NotIn, values: [5]"), []string{never("1")}},
		{rules + all + another + exit("Count", "containerName: main, operator: In, values: [1]"), []string{never("1")}},
		{rules + all + another + "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}", nil},
		{rules + exit("FailJob", "containerName: main, operator: NotIn, values: [0]") + another + exit("Count", "operator: In, values: [1]"), nil},
		{rules + exit("FailJob", "containerName: main, operator: NotIn, values: [0]") + another + exit("Count", "containerName: side, operator: In, values: [1]"), nil},
		{
			rules + exit("FailJob", "containerName: main, operator: NotIn, values: [0]") + another + exit("FailJob", "containerName: side, operator: NotIn, values: [0]") +
				another + exit("Count", "operator: In, values: [1]"), []string{never("2")},
		},
		{rules + exit("FailJob", "operator: In, values: [1, 2]") + another + exit("Count", "operator: In, values: [2, 3]"), []string{code("1", "0")}},
		{rules + exit("FailJob", "operator: In, values: [1]") + another + exit("Count", "operator: In, values: [2]") + another + exit("Count", "operator: In, values: [1, 2]"), []string{never("2")}},
		{rules + exit("FailJob", "operator: NotIn, values: [3]") + another + exit("Count", "operator: In, values: [3]") + another + exit("Count", "operator: NotIn, values: [9]"), []string{never("2")}},
		{rules + exit("FailJob", "operator: NotIn, values: [3]") + another + exit("Count", "operator: In, values: [3, 4]"), []string{code("1", "1")}},
		{rules + exit("FailJob", "operator: In, values: [3]") + another + exit("Count", "operator: NotIn, values: [3]") + another + exit("Count", "operator: NotIn, values: [3]"), []string{never("2")}},
		{rules + exit("FailJob", "operator: NotIn, values: [0, 3]"), []string{"info zero-never-compared spec.podFailurePolicy.rules[0].onExitCodes.values[0]"}},
		{rules + exit("FailJob", "operator: In, values: [-1, 255, 256]"), []string{
			"info exit-code-unusual spec.podFailurePolicy.rules[0].onExitCodes.values[0]", "info exit-code-unusual spec.podFailurePolicy.rules[0].onExitCodes.values[2]",
		}},
		{rules + "{action: Count, onPodConditions: [{type: A}]}" + another + `{action: FailJob, onPodConditions: [{type: A, status: "True"}]}`, []string{never("1")}},
		{rules + "{action: Count, onPodConditions: [{type: A}]}" + another + `{action: FailJob, onPodConditions: [{type: A, status: "False"}]}`, nil},
		{rules + "{action: Count, onPodConditions: [{type: A}]}" + another + `{action: FailJob, onPodConditions: [{type: B}, {type: A}]}`, []string{
			"info condition-never-reached spec.podFailurePolicy.rules[1].onPodConditions",
		}},
		{rules + "{action: Count, onPodConditions: [{type: A}, {type: A}]}", []string{"info condition-never-reached spec.podFailurePolicy.rules[0].onPodConditions"}},
		{"podFailurePolicy: {rules: []}", []string{"info no-rules spec.podFailurePolicy.rules"}},
	}, "disruption-not-ignored", "disruption-rule-too-late")
}

// Requirements: PFP-05
func TestEndlessRetriesAreReported(t *testing.T) {
	ignored := "info ignored-for-ever spec.podFailurePolicy.rules[0]"
	checkSpecs(t, []specCase{
		{rules + exit("Ignore", "operator: In, values: [42]"), []string{ignored}},
		{"activeDeadlineSeconds: 900\n  " + rules + exit("Ignore", "operator: In, values: [42]"), nil},
		{rules + "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}", nil},
		{rules + "{action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: X}]}", []string{ignored}},
	})
}

// Requirements: SUC-02, SUC-03, SUC-06, SUC-07
func TestSuccessRulesThatAreNeverMetAreReported(t *testing.T) {
	success := func(list ...string) string {
		return indexed + "successPolicy: {rules: [{" + strings.Join(list, "}, {") + "}]}"
	}
	first := func(rule string) string {
		return "info success-rule-never-first spec.successPolicy.rules[" + rule + "]"
	}
	never := "warning success-rule-never-met spec.successPolicy.rules[0].succeededIndexes"
	checkSpecs(t, []specCase{
		{success(`succeededIndexes: ""`), []string{never}},
		{success(`succeededIndexes: "", succeededCount: 0`), []string{never}},
		{success(`succeededIndexes: "0"`, `succeededCount: 4`), nil},
		{success(`succeededCount: 4`, `succeededIndexes: "0"`), nil},
		{success(`succeededCount: 0`, `succeededIndexes: "0"`), []string{first("1")}},
		{success(`succeededCount: 2`, `succeededIndexes: "0,3"`), []string{first("1")}},
		{success(`succeededCount: 3`, `succeededIndexes: "0,3"`), nil},
		{success(`succeededIndexes: "0"`, `succeededIndexes: "0,3"`), []string{first("1")}},
		{success(`succeededIndexes: "0"`, `succeededIndexes: "1-4"`), nil},
		{success(`succeededIndexes: "0-3", succeededCount: 2`, `succeededIndexes: "1-2"`), []string{first("1")}},
		{success(`succeededIndexes: "0-3", succeededCount: 2`, `succeededIndexes: "2-4", succeededCount: 2`), nil},
		{success(`succeededIndexes: "0-3", succeededCount: 1`, `succeededIndexes: "2-4", succeededCount: 2`), []string{first("1")}},
		{success(`succeededIndexes: "0"`, `succeededCount: 5`), []string{first("1")}},
		{success(`succeededIndexes: ""`, `succeededIndexes: "0"`), []string{never}},
		{success(`succeededIndexes: "1,x"`), []string{"!error indexes-invalid spec.successPolicy.rules[0].succeededIndexes"}},
	})
}

// Requirements: PFN-07, PFN-12, PFN-16, PFN-17, PFN-18, PFN-19, PFN-20, PFN-21, PFN-24
func TestIllegalAndOddNamesAreReported(t *testing.T) {
	two := base + "  managedBy: batchjob.dev/controller\n  " + rules + exit("FailJob", "operator: In, values: [1]") + another + exit("Count", "operator: In, values: [2]")
	annotate := func(object, value string) string {
		return strings.Replace(object, "{name: a}", fmt.Sprintf("{name: a, annotations: {%s: %q}}", rulename.Annotation, value), 1)
	}
	name := func(rule int) string { return fmt.Sprintf("spec.podFailurePolicy.rules[%d].name", rule) }
	const key = "metadata.annotations[" + rulename.Annotation + "]"
	for _, c := range []struct {
		object string
		names  rulename.Names
		want   []string
	}{
		{two, rulename.Names{"ExitCode1", ""}, nil},
		{two, rulename.Names{"exit_1", ""}, []string{"warning rule-name-not-camel-case " + name(0)}},
		{two, rulename.Names{"", "Two"}, nil}, // why shows it
		{two, rulename.Names{"A", "A"}, []string{"error rule-name-invalid " + name(1)}},
		{two, rulename.Names{"1", ""}, []string{"error rule-name-invalid " + name(0)}},
		{two, rulename.Names{"a-b", ""}, []string{"error rule-name-invalid " + name(0)}},
		{two, rulename.Names{strings.Repeat("A", 112), ""}, []string{"error rule-name-invalid " + name(0)}},
		{two, rulename.Names{"FailedIndexes", ""}, []string{"error rule-name-invalid " + name(0)}},
		{annotate(two, "0=A"), nil, nil},
		{annotate(two, "0=A"), rulename.Names{"A", ""}, nil},
		{annotate(two, "0=A"), rulename.Names{"B", ""}, []string{"error rule-names-disagree " + key}},
		{annotate(two, "0=b"), nil, []string{"warning rule-name-not-camel-case " + key}},
		{annotate(two, "2=A"), nil, []string{"error rule-names-annotation-invalid " + key}},
		{annotate(base, "0=A"), nil, []string{"warning names-without-rules " + key}},
		{strings.Replace(two, "batchjob.dev/", "kubernetes.io/job-", 1), rulename.Names{"A", ""}, []string{"warning rule-name-unused " + name(0)}},
		{strings.Replace(two, "managedBy: batchjob.dev/controller\n  ", "", 1), rulename.Names{"", "B"}, []string{"warning rule-name-unused " + name(1)}}, // kubectl create rejects it
	} {
		assert.SlicesEqual(t, look(t, c.object, c.names), c.want, c.object, c.names)
	}
}

func TestJobOfACronJobIsChecked(t *testing.T) {
	const cron = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: a, annotations: {batchjob.dev/pod-failure-policy-rule-names: 0=A}}
spec:
  jobTemplate:
    metadata: {annotations: {batchjob.dev/pod-failure-policy-rule-names: 0=b}}
    spec:
      backofLimit: 3
      podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1]}}]}
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: i}]
`
	want := []string{
		"!error schedule-missing spec.schedule", "!error unknown-field spec.jobTemplate.spec.backofLimit", "warning names-on-cronjob metadata.annotations[" + rulename.Annotation + "]",
		"warning rule-name-not-camel-case spec.jobTemplate.metadata.annotations[" + rulename.Annotation + "]",
	}
	assert.SlicesEqual(t, look(t, cron, nil), want)
}

// Objects other than Jobs do not cause a panic.
func TestObjectsThatAreNoJobsDoNotPanic(t *testing.T) {
	if got := look(t, "{apiVersion: v1, kind: Pod}", nil); len(got) != 1 || got[0] != "!error not-readable " {
		t.Errorf("%q", got)
	}
	assert.Equal(t, len(look(t, "{apiVersion: batch/v1, kind: Job}", nil)), 3, "an empty Job")
}
