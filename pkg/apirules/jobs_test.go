package apirules

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// jobOf returns a Job with these fields of the spec, as the API server checks it.
func jobOf(t *testing.T, fields string) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	const template = "template: {spec: {restartPolicy: Never, containers: [{name: main}]}}"
	assert.NoError(t, yaml.UnmarshalStrict([]byte(template), &job.Spec))
	assert.NoError(t, yaml.UnmarshalStrict([]byte(fields), &job.Spec))
	job.Name, job.UID = "a", "1"
	SetDefaults(job)
	GenerateSelector(job)
	return job
}

// lines returns problems as errors of the API server, with the field to change if it is another one; a problem that another
// one causes is in parentheses.
func lines(problems Problems) (all []string) {
	for i, e := range problems.Errors() {
		p := problems[i]
		line := fmt.Sprintf("%s %s %s", p.ID, strings.TrimPrefix(string(e.Type), "FieldValue"), strings.TrimPrefix(e.Field, "spec."))
		if p.Path.String() != e.Field {
			line += " at " + strings.TrimPrefix(p.Path.String(), "spec.")
		}
		if p.Fix == "" {
			line = "(" + line + ")"
		}
		all = append(all, line)
	}
	return all
}

func changed(t *testing.T, fields string) *batchv1.Job {
	t.Helper()
	job := jobOf(t, "completions: 1")
	assert.NoError(t, yaml.UnmarshalStrict([]byte(fields), &job.Spec))
	return job
}

// Requirements: BLI-01, BLI-30, PFP-11, PFP-12, SUC-01, SUC-02, PRP-01, LNT-01
func TestProblemsOfAJobHaveTheErrorOfTheAPIServer(t *testing.T) {
	const indexed = "completionMode: Indexed\n"
	for fields, want := range map[string]string{
		"": "", indexed + "completions: 3": "",
		"parallelism: -1":                         "negative Invalid parallelism",
		"activeDeadlineSeconds: -1":               "negative Invalid activeDeadlineSeconds",
		"completionMode: indexed":                 "completion-mode-unknown NotSupported completionMode",
		indexed + "parallelism: 1":                "completions-missing Required completions",
		"podReplacementPolicy: Never":             "replacement-unknown NotSupported podReplacementPolicy",
		"managedBy: ''":                           "managed-by-invalid Required managedBy",
		"managedBy: me":                           "managed-by-invalid Invalid managedBy",
		"backoffLimitPerIndex: 1":                 "limit-per-index-without-indexes Invalid backoffLimitPerIndex",
		"manualSelector: true":                    "selector-missing Required selector, (selector-mismatch Invalid template.metadata.labels at selector)",
		"selector: {matchLabels: {a: b}}":         "(selector-mismatch Invalid template.metadata.labels at selector), selector-not-manual Invalid selector",
		"selector: {matchLabels: {a: '!'}}":       "label-selector-invalid Invalid selector.matchLabels",
		"successPolicy: {}":                       "success-without-indexes Invalid successPolicy",
		"podFailurePolicy: {rules: [{}]}":         "action-unknown Required podFailurePolicy.rules[0].action, no-requirement Invalid podFailurePolicy.rules[0]",
		indexed + "completions: 200000":           "",
		indexed + "parallelism: 100001":           "completions-missing Required completions, parallelism-too-high Invalid parallelism",
		"managedBy: a/" + strings.Repeat("b", 62): "managed-by-invalid TooLong managedBy",
		indexed + "completions: -1\nmaxFailedIndexes: 0\nbackoffLimitPerIndex: 0":                      "negative Invalid completions, (max-failed-above-completions Invalid maxFailedIndexes)",
		indexed + "completions: 3\nmaxFailedIndexes: 4\nbackoffLimitPerIndex: 0":                       "max-failed-above-completions Invalid maxFailedIndexes",
		indexed + "completions: 200000\nbackoffLimitPerIndex: 0":                                       "max-failed-missing Required maxFailedIndexes",
		indexed + "completions: 200000\nbackoffLimitPerIndex: 0\nmaxFailedIndexes: 10001":              "max-failed-too-high Invalid maxFailedIndexes",
		indexed + "completions: 3\nsuccessPolicy: {rules: [{}]}":                                       "success-rule-empty Required successPolicy.rules[0]",
		indexed + "completions: 3\nsuccessPolicy: {}":                                                  "no-success-rules Required successPolicy.rules",
		indexed + "completions: 3\nsuccessPolicy: {rules: [{succeededCount: 4}]}":                      "success-count-too-high Invalid successPolicy.rules[0].succeededCount",
		indexed + "completions: 3\nsuccessPolicy: {rules: [{succeededCount: -1}]}":                     "negative Invalid successPolicy.rules[0].succeededCount",
		indexed + "completions: 3\nsuccessPolicy: {rules: [{succeededIndexes: '0-3'}]}":                "indexes-invalid Invalid successPolicy.rules[0].succeededIndexes",
		indexed + "completions: 3\nsuccessPolicy: {rules: [{succeededIndexes: x, succeededCount: 1}]}": "indexes-invalid Invalid successPolicy.rules[0].succeededIndexes, (success-count-too-high Invalid successPolicy.rules[0].succeededCount)",
		"scheduling: {schedulingPolicy: {gang: {minCount: 2}}}":                                        "(gang-too-large Invalid scheduling.schedulingPolicy.gang.minCount)",
		"podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}":   "fail-index-without-limit Invalid podFailurePolicy.rules[0].action",
		"podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: In, containerName: b, values: [0, 0]}}]}": "container-unknown Invalid podFailurePolicy.rules[0].onExitCodes.containerName, " +
			"exit-code-zero Invalid podFailurePolicy.rules[0].onExitCodes.values[0], exit-code-twice Duplicate podFailurePolicy.rules[0].onExitCodes.values[1], (exit-code-zero Invalid podFailurePolicy.rules[0].onExitCodes.values[1])",
		"podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: Is, values: [2, 1]}, onPodConditions: [{type: a b}]}]}": "two-requirements Invalid podFailurePolicy.rules[0] at podFailurePolicy.rules[0].onPodConditions, " +
			"operator-unknown NotSupported podFailurePolicy.rules[0].onExitCodes.operator, exit-codes-not-sorted Invalid podFailurePolicy.rules[0].onExitCodes.values, condition-type-invalid Invalid podFailurePolicy.rules[0].onPodConditions[0].type",
	} {
		assert.Equal(t, strings.Join(lines(NewJob(jobOf(t, fields), nil)), ", "), want, fields)
	}
}

// Requirements: LNT-01
func TestRestartPolicyOfAJobIsNeverOrOnFailure(t *testing.T) {
	for policy, want := range map[string]string{"Never": "", "OnFailure": "", "": "restart-policy-missing Required ", "Always": "restart-policy-always Required ", "Maybe": "restart-policy-unknown NotSupported "} {
		if want != "" {
			want += "template.spec.restartPolicy"
		}
		assert.Equal(t, strings.Join(lines(NewJob(jobOf(t, fmt.Sprintf("template: {spec: {restartPolicy: %q}}", policy)), nil)), ", "), want, policy)
	}
}

// The fields that cannot change, and the changes that a suspended Job allows.
func TestImmutableFieldsOfAJob(t *testing.T) {
	for change, want := range map[string]string{
		"parallelism: 2": "", "suspend: true": "", "backoffLimit: 2": "",
		"completions: 2": "completions", "managedBy: a/b": "managedBy", "template: {spec: {restartPolicy: OnFailure}}": "template",
		"podReplacementPolicy: Failed\npodFailurePolicy: {rules: []}": "podFailurePolicy",
	} {
		var got []string
		for _, p := range ChangedJob(jobOf(t, "completions: 1"), changed(t, change)) {
			got = append(got, strings.TrimPrefix(p.Path.String(), "spec."))
		}
		assert.Equal(t, strings.Join(got, ", "), want, change)
	}
	old := jobOf(t, "suspend: true")
	job := old.DeepCopy()
	job.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
	assert.Equal(t, len(ChangedJob(old, job)), 0, "a suspended Job may get other nodes")
	old.Spec.Suspend, job.Spec.Suspend = ptr.To(false), ptr.To(false)
	assert.Equal(t, len(ChangedJob(old, job)), 1, "another Job may not")
}
