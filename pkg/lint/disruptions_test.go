package lint

import "testing"

// KEP-3329: a pod that is preempted ends with 137 or 143, and the first rule that matches counts (PFP-02).
// Requirements: PFP-05
func TestDisruptionsAreForTheirRule(t *testing.T) {
	const ignore = "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}"
	late := []string{"warning disruption-rule-too-late spec.podFailurePolicy.rules[0]"}
	none := []string{"info disruption-not-ignored spec.podFailurePolicy.rules[0]"}
	first := func(rule string, more ...string) string {
		text := rules + rule
		for _, m := range more {
			text += another + m
		}
		return text
	}
	checkSpecs(t, []specCase{
		{first(exit("FailJob", "operator: NotIn, values: [42]"), ignore), late},
		{first(exit("FailJob", "operator: In, values: [137]"), ignore), late},
		{first(exit("FailJob", "operator: In, values: [143]"), ignore), late},
		{first(exit("Count", "operator: NotIn, values: [42]"), ignore), late},
		{first(exit("FailJob", "containerName: side, operator: In, values: [143]"), ignore), late},
		{first(exit("FailJob", "operator: In, values: [143]"), "{action: Count, onPodConditions: [{type: DisruptionTarget}]}"), late},
		{first(ignore, exit("FailJob", "operator: NotIn, values: [42]")), nil},
		{first("{action: FailJob, onPodConditions: [{type: DisruptionTarget}]}", exit("FailJob", "operator: NotIn, values: [42]")), nil},
		{first(exit("FailJob", "operator: In, values: [42]"), ignore), nil},
		{first(exit("FailJob", "operator: NotIn, values: [137, 143]"), ignore), nil},
		{first(exit("FailJob", "operator: In, values: [143]"), "{action: FailJob, onPodConditions: [{type: DisruptionTarget}]}"), nil},
		{first(exit("FailJob", "operator: NotIn, values: [42]")), none},
		{indexed + "backoffLimitPerIndex: 1\n  " + first(exit("FailIndex", "operator: In, values: [143]")), none},
		{first(exit("FailJob", "operator: In, values: [137]"), `{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "False"}]}`), none},
		{first(exit("Count", "operator: NotIn, values: [42]")), nil},
		{first(exit("FailJob", "operator: In, values: [42]")), nil},
		// An earlier rule matches these codes.
		{first(exit("Count", "operator: In, values: [137, 143]"), exit("FailJob", "operator: NotIn, values: [0]")), nil},
	})
}
