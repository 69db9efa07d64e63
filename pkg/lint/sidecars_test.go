package lint

import "testing"

// Requirements: FCT-08
func TestRuleWithoutContainerMatchesSidecars(t *testing.T) {
	const sidecar = "template: {spec: {restartPolicy: Never, initContainers: [{name: mesh, image: a, restartPolicy: Always}], containers: [{name: main, image: a}]}}\n  "
	const plain = "template: {spec: {restartPolicy: Never, initContainers: [{name: setup, image: a}], containers: [{name: main, image: a}, {name: side, image: a}]}}\n  "
	checkSidecars := func(pod, rule string, want []string) {
		t.Helper()
		checkSpecs(t, []specCase{{pod + rules + rule, want}}, "disruption-not-ignored")
	}
	checkSidecars(sidecar, exit("FailJob", "operator: In, values: [137]"), []string{"warning rule-matches-sidecars spec.podFailurePolicy.rules[0].onExitCodes"})
	checkSidecars(sidecar, exit("FailJob", "operator: In, values: [42]"), []string{"info rule-matches-sidecars spec.podFailurePolicy.rules[0].onExitCodes"})
	checkSidecars(sidecar, exit("FailJob", "containerName: main, operator: In, values: [42]"), nil)
	checkSidecars(sidecar, exit("Count", "operator: In, values: [42]"), nil)
	checkSidecars(plain, exit("FailJob", "operator: In, values: [42]"), nil)
}
