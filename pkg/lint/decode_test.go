package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// texts returns field, message and fix of the findings with the ID.
func texts(t *testing.T, object, id string) []string {
	t.Helper()
	var got []string
	for _, f := range Check(Input{Object: read(t, object)}) {
		if f.ID == id {
			got = append(got, fmt.Sprintf("%s: %s (%s)", f.Field, f.Message, f.Fix))
		}
	}
	return got
}

// The message describes the value in the user's words, and the fix shows the correct value.
// Requirements: LNT-06
func TestWrongTypesAreExplained(t *testing.T) {
	for spec, want := range map[string]string{
		"spec: 3":                               "spec: spec is the number 3, but the API expects an object (write an object)",
		"spec: {backoffLimit: 1.5}":             "spec.backoffLimit: spec.backoffLimit is the number 1.5, but the API expects an integer (write an integer)",
		"spec: {backoffLimit: 3000000000}":      "spec.backoffLimit: spec.backoffLimit is the number 3000000000, but the API allows at most 2147483647 (write an integer)",
		"spec: {backoffLimit: '3'}":             "spec.backoffLimit: spec.backoffLimit is the text \"3\", but the API expects an integer (write 3 without quotes)",
		"spec: {activeDeadlineSeconds: 10m}":    "spec.activeDeadlineSeconds: spec.activeDeadlineSeconds is the text \"10m\", but the API expects an integer (write 600, the number of seconds)",
		"spec: {suspend: a}":                    "spec.suspend: spec.suspend is the text \"a\", but the API expects true or false (write true or false)",
		"spec: {suspend: 'true'}":               "spec.suspend: spec.suspend is the text \"true\", but the API expects true or false (write true without quotes)",
		"spec: {managedBy: 3}":                  "spec.managedBy: spec.managedBy is the number 3, but the API expects text (write \"3\")",
		"spec: {managedBy: [a]}":                "spec.managedBy: spec.managedBy is a list, but the API expects text (write text)",
		"spec: {template: [a]}":                 "spec.template: spec.template is a list, but the API expects an object (write an object)",
		"spec: {podFailurePolicy: {rules: {}}}": "spec.podFailurePolicy.rules: spec.podFailurePolicy.rules is an object, but the API expects a list (write a list: start each item with \"- \")",
		"metadata: {labels: {a: x, b: true}}":   "metadata.labels[b]: metadata.labels[b] is the boolean true, but the API expects text (write \"true\")",
		"metadata: {annotations: {a: 3}}":       "metadata.annotations[a]: metadata.annotations[a] is the number 3, but the API expects text (write \"3\")",
		"metadata: {labels: [a]}":               "metadata.labels: metadata.labels is a list, but the API expects an object (write an object)",
	} {
		if got := texts(t, "apiVersion: batch/v1\nkind: Job\n"+spec, "wrong-type"); len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n got %q\nwant %q", spec, got, want)
		}
	}
}

// containerWith returns a Job with a second container, to which it adds these fields.
func containerWith(fields string) string {
	return strings.Replace(base, "{name: side, image: i}", "{name: side, image: i, "+fields+"}", 1)
}

// All wrong values of a container are reported, each with its index and the name of its object.
// Requirements: LNT-06
func TestEveryWrongValueIsReported(t *testing.T) {
	const at = "spec.template.spec.containers[1]."
	got := []string{}
	for _, f := range Check(Input{Object: read(t, containerWith("command: sleep 5, args: [1, b], env: [{name: PORT, value: 5432}, {name: FLAG, value: yes}], ports: [{containerPort: http}], stdin: 'no'"))}) {
		if f.Rejected {
			got = append(got, fmt.Sprintf("%s %s: %s (%s)", f.ID, f.Field, strings.Replace(f.Message, f.Field, "it", 1), f.Fix))
		}
	}
	want := []string{
		"wrong-type " + at + "args[0]: it (side) is the number 1, but the API expects text (write \"1\")",
		"wrong-type " + at + "command: it (side) is the text \"sleep 5\", but the API expects a list (write a list: [\"sleep\", \"5\"])",
		"wrong-type " + at + "env[0].value: it (PORT) is the number 5432, but the API expects text (write \"5432\")",
		"wrong-type " + at + "env[1].value: it (FLAG) is the boolean true, but the API expects text (write \"true\")",
		"wrong-type " + at + "ports[0].containerPort: it (side) is the text \"http\", but the API expects an integer (write an integer)",
		"wrong-type " + at + "stdin: it (side) is the text \"no\", but the API expects true or false (write false without quotes)",
	}
	assert.SlicesEqual(t, got, want)
}

// A quantity that the API server cannot parse, and one in thousandths of a byte.
// Requirements: LNT-06
func TestQuantitiesAreExplained(t *testing.T) {
	for quantity, want := range map[string]string{
		"memory: 2GB":     "quantity-invalid write 2G or 2Gi",
		"memory: 2 Gi":    "quantity-invalid write 2Gi",
		"memory: 512MB":   "quantity-invalid write 512M or 512Mi",
		"memory: 512mb":   "quantity-invalid write 512M or 512Mi",
		"memory: 1KB":     "quantity-invalid write 1k or 1Ki",
		"memory: 1gib":    "quantity-invalid write 1Gi",
		"memory: lots":    "quantity-invalid write a number with a unit, such as 512Mi or 2Gi",
		"memory: ''":      "quantity-invalid write a number with a unit, such as 512Mi or 2Gi",
		"memory: 512m":    "quantity-tiny write 512M or 512Mi for megabytes",
		"memory: 512":     "quantity-tiny write 512M or 512Mi for megabytes",
		"memory: 64Mi":    "",
		"memory: 0":       "",
		"cpu: 500 m":      "quantity-invalid write 500m",
		"cpu: 2 cores":    "quantity-invalid write 2",
		"cpu: 500M cores": "quantity-invalid write a number with a unit, such as 500m or 2",
		"cpu: 0.5":        "",
		"cpu: [1]":        "wrong-type write a quantity, such as 500m or 2Gi",
	} {
		got := ""
		for _, f := range Check(Input{Object: read(t, containerWith("resources: {limits: {"+quantity+"}}"))}) {
			got += f.ID + " " + f.Fix
		}
		assert.Equal(t, got, want, quantity)
	}
}

// Values are quoted as written in the manifest: YAML reads yes and 0777 as other values.
// Requirements: LNT-06
func TestValuesAreQuotedAsWritten(t *testing.T) {
	written := map[string]string{"metadata.labels[a]": "yes", "metadata.labels[b]": "0777"}
	in := Input{Object: read(t, strings.Replace(base, "{name: a}", "{name: a, labels: {a: yes, b: 0777}}", 1)), Written: func(path string) string { return written[path] }}
	got := []string{}
	for _, f := range Check(in) {
		got = append(got, f.Message+"; "+f.Fix)
	}
	want := []string{
		"metadata.labels[a] is yes, which YAML reads as the boolean true, but the API expects text; write \"yes\"",
		"metadata.labels[b] is the number 0777, but the API expects text; write \"0777\"",
	}
	assert.SlicesEqual(t, got, want)
}

// A value that a wrong value hides is not reported as missing, and the rest of the object is still checked.
// Requirements: LNT-06
func TestTheRestIsCheckedBesideAWrongValue(t *testing.T) {
	for _, tc := range []struct {
		name, object string
		want         []string
	}{
		{"list", strings.Replace(base, "[{name: main, image: i}, {name: side, image: i}]", "{name: main}", 1) + "  backoffLimit: -1", []string{"!error negative spec.backoffLimit", "!error wrong-type spec.template.spec.containers"}},
		{"name of a container", strings.Replace(base, "name: main", "name: 3", 1), []string{"!error wrong-type spec.template.spec.containers[0].name"}},
		{"item", strings.Replace(base, "[{name: main, image: i}", "[3", 1), []string{"!error wrong-type spec.template.spec.containers[0]"}},
		{"profile", containerWith("securityContext: {seccompProfile: {type: unconfined}}"), []string{"!error value-unknown spec.template.spec.containers[1].securityContext.seccompProfile.type"}},
		{"restart policy", strings.Replace(base, "Never", "[Never]", 1), []string{"!error wrong-type spec.template.spec.restartPolicy"}},
	} {
		assert.SlicesEqual(t, look(t, tc.object, nil), tc.want, tc.name)
	}
}

// Messages write lists as people do.
// Requirements: CLI-05
func TestMessagesListWhatIsAllowed(t *testing.T) {
	for object, want := range map[string]string{
		base + "  completionMode: x": "spec.completionMode: there is no completionMode \"x\" (use NonIndexed or Indexed)",
		base + "  " + rules + exit("Count", "containerName: x, operator: In, values: [1]"): "spec.podFailurePolicy.rules[0].onExitCodes.containerName: " +
			"there is no container \"x\"; the template has main, side (use the name of a container or init container in the template)",
		strings.Replace(base, "containers: [{name: main, image: i}, {name: side, image: i}]", "containers: []", 1) + "  " + rules + exit("Count", "containerName: x, operator: In, values: [1]"): "spec.podFailurePolicy.rules[0].onExitCodes.containerName: " +
			"there is no container \"x\"; there are no containers (use the name of a container or init container in the template)",
		base + "  " + rules + exit("Retry", "operator: In, values: [1]"): "spec.podFailurePolicy.rules[0].action: there is no action \"Retry\" (use FailJob, FailIndex, Ignore or Count)",
	} {
		got := append(texts(t, object, "completion-mode-unknown"), texts(t, object, "container-unknown")...)
		if got = append(got, texts(t, object, "action-unknown")...); len(got) != 1 || got[0] != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// An object with thousands of mistakes of any kind has MaxFindings findings, of names and types first.
// Requirements: LNT-06
func TestTheNumberOfFindingsIsLimited(t *testing.T) {
	many := func(name, value string) map[string]any {
		all := map[string]any{}
		for i := range 3 * MaxFindings {
			all[fmt.Sprintf(name, i)] = value
		}
		return all
	}
	for name, object := range map[string]map[string]any{
		"labels":       {"metadata": map[string]any{"labels": many("-%d-", "a")}},
		"placeholders": {"metadata": map[string]any{"labels": many("a%d", "${A}")}},
		"unknown":      {"metadata": map[string]any{"labels": many("-%d-", "a")}, "spec": many("a%d", "b")},
	} {
		object["apiVersion"], object["kind"] = "batch/v1", "Job"
		found := Check(Input{Object: object})
		if len(found) != MaxFindings || name == "unknown" && found[MaxFindings-1].ID != "unknown-field" {
			t.Errorf("%s: %d findings", name, len(found))
		}
	}
}
