package rulename

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// Validate returns all violations in the names of a Job's rules, one name per rule, "" for a rule without a name
// (KEP-4443, Validation). Violations are sorted by rule, and the violations of one rule have a fixed order.
func Validate(names []string) []Violation {
	var violations []Violation
	for rule, name := range names {
		if name == "" {
			continue
		}
		for _, v := range [...]Violation{
			{Kind: DuplicateName, Problem: duplicate(names, rule)},
			{Kind: IndexOfOther, Problem: otherIndex(name, rule, len(names))},
			{Kind: BadCharacter, Problem: badCharacter(name)},
			{Kind: BadEnd, Problem: badEnd(name)},
			{Kind: TooLong, Problem: tooLong(name)},
			{Kind: ReservedReason, Problem: reserved(name)},
		} {
			if v.Problem != "" {
				v.Rule, v.Name = rule, name
				violations = append(violations, v)
			}
		}
	}
	return violations
}

// duplicate compares byte by byte: names that differ in case are different (PFN-16).
func duplicate(names []string, rule int) string {
	if first := slices.Index(names, names[rule]); first != rule {
		return fmt.Sprintf("rule %d has the same name", first)
	}
	return ""
}

// otherIndex rejects a name that looks like the index of another rule, whose reason contains that index if it is
// unnamed. It compares values, so "01" is 1: stricter than necessary, as the KEP says "integer values" (PFN-17).
func otherIndex(name string, rule, rules int) string {
	if !isNumber(name) {
		return ""
	}
	// A number too large for Atoi is no index.
	if v, err := strconv.Atoi(name); err == nil && v < rules && v != rule {
		return fmt.Sprintf("it is the index of rule %d", v)
	}
	return ""
}

// badCharacter checks the characters of the name against the pattern of metav1.Condition.reason,
// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$. The prefix takes care of the first
// letter, so a name may start with any character that it may contain (PFN-18).
func badCharacter(name string) string {
	for _, c := range name {
		if !isAlnum(c) && !strings.ContainsRune("_,:", c) {
			return fmt.Sprintf("%+q is not allowed, only letters, digits, '_', ',' and ':'", c)
		}
	}
	return ""
}

// badEnd checks the last character against the pattern. badCharacter reports characters that no name may contain.
func badEnd(name string) string {
	if last := name[len(name)-1]; badCharacter(name) == "" && (last == ',' || last == ':') {
		return fmt.Sprintf("%q is not allowed at the end", last)
	}
	return ""
}

func isAlnum(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func tooLong(name string) string {
	if len(name) > MaxLen {
		return fmt.Sprintf("%d bytes long, but at most %d are allowed", len(name), MaxLen)
	}
	return ""
}

// reserved rejects reasons that Job controllers use themselves. None of them has the prefix of generated reasons today,
// so the name itself is also compared: the KEP allows no other reading (D-33, PFN-20).
func reserved(name string) string {
	for _, reason := range internalReasons() {
		if name == reason || ReasonPrefix+name == reason {
			return "Job controllers use " + reason + " as a reason themselves"
		}
	}
	return ""
}

// internalReasons are the condition reasons of the built-in Job controller and ours.
// config/admission/rule-names has the same list, and a test compares them.
func internalReasons() [9]string {
	return [...]string{
		batchv1.JobReasonPodFailurePolicy,
		batchv1.JobReasonBackoffLimitExceeded,
		batchv1.JobReasonDeadlineExceeded,
		batchv1.JobReasonMaxFailedIndexesExceeded,
		batchv1.JobReasonFailedIndexes,
		batchv1.JobReasonSuccessPolicy,
		batchv1.JobReasonCompletionsReached,
		// Reasons of the condition Suspended, for which the API has no constants.
		"JobSuspended",
		"JobResumed",
	}
}

// Lint returns a warning if a name is not CamelCase, otherwise "". The KEP asks for
// CamelCase, but its pattern allows more; only the pattern is enforced (D-32).
func Lint(name string) string {
	if name == "" || 'A' <= name[0] && name[0] <= 'Z' && !strings.ContainsFunc(name, func(c rune) bool { return !isAlnum(c) }) {
		return ""
	}
	return quote(name) + " is not CamelCase, the convention for reasons of conditions"
}
