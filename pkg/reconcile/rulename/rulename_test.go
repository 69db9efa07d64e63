package rulename

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// conditionReasonLimit is the limit of metav1.Condition and events.k8s.io.
const conditionReasonLimit = 128

// Requirements: PFN-22
func TestReasonFallsBackToTheIndex(t *testing.T) {
	for _, c := range []struct {
		name string
		rule int32
		want string
	}{
		{"ExitCode2", 0, "PodFailurePolicy_ExitCode2"},
		{"ExitCode2", 3, "PodFailurePolicy_ExitCode2"},
		{"", 0, "PodFailurePolicy_0"},
		{"", 19, "PodFailurePolicy_19"},
		{"a,b:c", 1, "PodFailurePolicy_a,b:c"},
	} {
		assert.Equalf(t, Reason(c.name, c.rule), c.want, "Reason(%q, %d)", c.name, c.rule)
	}
}

// Requirements: PFN-19
func TestLongestNameMakesTheLongestReason(t *testing.T) {
	assert.Equal(t, len(Reason(strings.Repeat("x", MaxLen), 0)), conditionReasonLimit, "the length of the reason of the longest name")
	if MaxLen != 111 || MaxSize != 2299 {
		t.Errorf("MaxLen %d and MaxSize %d, want 111 and 2299", MaxLen, MaxSize)
	}
}

func TestRulesBeyondTheNamesHaveNone(t *testing.T) {
	names := Names{"A", "", "C"}
	for rule, want := range map[int32]string{0: "A", 1: "", 2: "C", 3: "", -1: "", math.MaxInt32: "", math.MinInt32: ""} {
		assert.Equalf(t, names.Name(rule), want, "the name of rule %d", rule)
	}
	assert.Equal(t, Names(nil).Name(0), "", "without names, rule 0")
}

// Users choose names: printing them must not control a terminal, nor fill it.
func TestViolationIsSafeToPrint(t *testing.T) {
	hostile := "\x1b[2J\nЕxit\u202e" + string([]byte{0xff})
	for _, v := range slices.Concat(
		Validate([]string{hostile, strings.Repeat("я", 1000), "Same", "Same", "02"}),
		violationsOf(hostile, 3), violationsOf("0="+hostile, 3), violationsOf(hostile+"=A", 3),
		violationsOf("0=A;"+strings.Repeat("x", 2000), 3), violationsOf(strings.Repeat("9", 2000)+"=A", 3),
	) {
		if line := v.String(); !isPrintable(line) || len(line) > 1000 {
			t.Errorf("not a safe line: %q", line)
		}
	}
	for _, c := range []struct {
		Violation
		want string
	}{
		{Violation{2, "exit-2", "", "why"}, `rule 2 "exit-2": why`},
		{Violation{-1, "", "", "why"}, `why`},
		{Violation{0, strings.Repeat("x", MaxLen), "", "why"}, `rule 0 "` + strings.Repeat("x", MaxLen) + `": why`},
		{Violation{0, strings.Repeat("x", MaxLen+1), "", "why"}, `rule 0 "` + strings.Repeat("x", 40) + `"...: why`},
	} {
		assert.Equal(t, c.String(), c.want)
	}
}

func violationsOf(value string, rules int) []Violation {
	_, violations := Parse(value, rules)
	return violations
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}
