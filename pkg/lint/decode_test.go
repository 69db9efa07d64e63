package lint

import (
	"fmt"
	"strings"
	"testing"
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

// The message has the words of users, and says that nothing else was looked at (CLI-05).
func TestWrongTypesAreExplained_CLI_05(t *testing.T) {
	const rest = "; the rest of the object was not checked"
	for spec, want := range map[string]string{
		"spec: 3":                               "spec: spec is a number, but the API expects an object" + rest + " (write an object)",
		"spec: {backoffLimit: 1.5}":             "spec.backoffLimit: spec.backoffLimit is the number 1.5, but the API expects an integer" + rest + " (write an integer)",
		"spec: {suspend: a}":                    "spec.suspend: spec.suspend is text, but the API expects true or false" + rest + " (write true or false)",
		"spec: {managedBy: 3}":                  "spec.managedBy: spec.managedBy is a number, but the API expects text" + rest + " (quote it)",
		"spec: {managedBy: [a]}":                "spec.managedBy: spec.managedBy is a list, but the API expects text" + rest + " (write text)",
		"spec: {template: [a]}":                 "spec.template: spec.template is a list, but the API expects an object" + rest + " (write an object)",
		"spec: {podFailurePolicy: {rules: {}}}": "spec.podFailurePolicy.rules: spec.podFailurePolicy.rules is an object, but the API expects a list" + rest + " (write a list)",
		"metadata: {labels: {a: x, b: true}}":   "metadata.labels[b]: a value in labels is true or false, but the API expects text" + rest + " (quote it)",
		"metadata: {annotations: {a: 3}}":       "metadata.annotations[a]: a value in annotations is a number, but the API expects text" + rest + " (quote it)",
		"metadata: {labels: [a]}":               "metadata.labels: metadata.labels is a list, but the API expects an object" + rest + " (write an object)",
	} {
		if got := texts(t, "apiVersion: batch/v1\nkind: Job\n"+spec, "wrong-type"); len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n got %q\nwant %q", spec, got, want)
		}
	}
}

// Lists in messages are written as people do.
func TestMessagesListWhatIsAllowed_CLI_05(t *testing.T) {
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
