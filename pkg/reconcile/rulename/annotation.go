package rulename

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parse reads the value of the annotation of a Job with the given number of rules. It returns a name for each rule, or
// nil if no rule is named. If the value is invalid, it returns the violations in the entries, or, if the entries can be
// parsed, in the names (see Validate).
func Parse(value string, rules int) (Names, []Violation) {
	if value == "" {
		return nil, nil
	}
	if problem := tooMuch(value); problem != "" {
		return nil, []Violation{{Rule: -1, Kind: InvalidAnnotation, Problem: problem}}
	}
	names, violations := split(value, rules)
	if len(violations) == 0 {
		violations = Validate(names)
	}
	if len(violations) != 0 || unnamed(names) {
		return nil, violations
	}
	return names, nil
}

// tooMuch rejects values that are too large to be valid, to save time and memory, and to
// bound the number of violations (PFN-29).
func tooMuch(value string) string {
	if len(value) > MaxSize {
		return fmt.Sprintf("%d bytes long, but at most %d are allowed", len(value), MaxSize)
	}
	if n := strings.Count(value, ";") + 1; n > MaxRules {
		return fmt.Sprintf("%d entries, but at most %d are allowed", n, MaxRules)
	}
	return ""
}

// split parses the entries, and checks their indexes only.
func split(value string, rules int) (Names, []Violation) {
	names := make(Names, max(rules, 0))
	given := make([]bool, len(names))
	var violations []Violation
	for entry := range strings.SplitSeq(value, ";") {
		rule, name, err := splitEntry(entry, len(names))
		if err == nil && given[rule] {
			err = fmt.Errorf("rule %d already has an entry", rule)
		}
		if err != nil {
			problem := fmt.Sprintf("entry %s: %v", quote(entry), err)
			violations = append(violations, Violation{Rule: -1, Kind: InvalidAnnotation, Problem: problem})
			continue
		}
		names[rule], given[rule] = name, true
	}
	return names, violations
}

func splitEntry(entry string, rules int) (rule int, name string, err error) {
	index, name, ok := strings.Cut(entry, "=")
	if !ok {
		return 0, "", errors.New("not index=name")
	}
	if !isCanonical(index) {
		return 0, "", fmt.Errorf("%s is not an index (digits without leading zeros)", quote(index))
	}
	// An error means that the number is larger than any index.
	if rule, err = strconv.Atoi(index); err != nil || rule >= rules {
		return 0, "", fmt.Errorf("no such rule; the Job has %d", rules)
	}
	return rule, name, nil
}

// isCanonical reports whether the text is a number as strconv.Itoa formats it, so that each rule has only one index.
func isCanonical(index string) bool {
	return isNumber(index) && (index == "0" || index[0] != '0')
}

// isNumber reports whether the text is one or more ASCII digits.
func isNumber(text string) bool {
	notDigit := func(c rune) bool { return c < '0' || c > '9' }
	return text != "" && !strings.ContainsFunc(text, notDigit)
}

// Format returns the value of the annotation with these names, "" if there are none. Parse can read the value if the
// names are valid and there are at most MaxRules rules.
func Format(names Names) string {
	var b strings.Builder
	for rule, name := range names {
		if name == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(strconv.Itoa(rule))
		b.WriteByte('=')
		b.WriteString(name)
	}
	return b.String()
}

// Resolve returns the names of a Job with the given number of rules, by rule. Native names, which the API server serves
// in the rules themselves, take precedence over names in the annotation (PFN-28). If the annotation is invalid, by
// itself or together with the native names, none of its names are used, and the violations contain the reasons. Native
// names are not checked: the API server has validated them.
//
// Without rules there are no names and no violations (PFN-12). Without an annotation,
// Resolve allocates nothing.
func Resolve(native []string, annotation string, rules int) (Names, []Violation) {
	if rules <= 0 {
		return nil, nil
	}
	own := Names(native[:min(len(native), rules)])
	if unnamed(own) {
		own = nil
	}
	if annotation == "" {
		return own, nil
	}
	names, violations := Parse(annotation, rules)
	if own == nil {
		return names, violations
	}
	if names == nil {
		return own, violations
	}
	if violations = merge(names, own); len(violations) != 0 {
		return own, violations
	}
	return names, nil
}

// merge overrides the names of the annotation with the native names, and returns the violations that the native names
// alone do not have.
func merge(names, own Names) []Violation {
	alone := make(Names, len(names))
	copy(alone, own)
	for rule, name := range alone {
		if name != "" {
			names[rule] = name
		}
	}
	known := Validate(alone)
	return slices.DeleteFunc(Validate(names), func(v Violation) bool { return slices.Contains(known, v) })
}

func unnamed(names Names) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return name != "" })
}
