package rulename

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
)

const (
	// Annotation is the key of the Job's annotation that holds the names.
	Annotation = "batchjob.dev/pod-failure-policy-rule-names"
	// ReasonPrefix starts the condition reason of a rule.
	ReasonPrefix = batchv1.JobReasonPodFailurePolicy + "_"
	// MaxRules is the number of rules that the API server allows in one podFailurePolicy.
	MaxRules = 20
	// MaxLen is the length of the longest name, in bytes. It leaves room for the
	// prefix in the 128 characters of a condition reason (KEP-4443, Validation; its
	// section Scalability says 128, without the prefix: D-31).
	MaxLen = 128 - len(ReasonPrefix)
	// MaxSize is the size in bytes of the longest valid annotation value: MaxRules
	// entries, each of two digits, "=" and a name, and ";" in between.
	MaxSize = MaxRules*(3+MaxLen) + MaxRules - 1
)

// Names are the names of the rules of one Job, by rule; "" is a rule without a name. The slice may be shorter than the
// list of rules. Do not modify Names: they may share memory with their source.
type Names []string

// Name returns the name of a rule, or "" if the rule has no name or does not exist.
func (n Names) Name(rule int32) string {
	if rule < 0 || int(rule) >= len(n) {
		return ""
	}
	return n[rule]
}

// Reason returns the condition reason of a rule that failed the Job: with its name, or
// with its index if the name is "" (KEP-4443, Defaulting).
func Reason(name string, rule int32) string {
	if name == "" {
		return ReasonPrefix + strconv.FormatInt(int64(rule), 10)
	}
	return ReasonPrefix + name
}

// Violation is one error in the names or the annotation.
type Violation struct {
	// Rule is the index of an existing rule, or -1 if the violation concerns the
	// annotation as a whole, or an entry that addresses no rule.
	Rule int
	// Name is the name given to the rule, unchanged; "" if Rule is -1.
	Name string
	Kind Kind
	// Problem describes the error, in printable ASCII.
	Problem string
}

// Kind is the requirement that a name violates.
type Kind string

// InvalidAnnotation is the kind of violations of the annotation itself.
const (
	InvalidAnnotation Kind = "InvalidAnnotation"
	DuplicateName     Kind = "DuplicateName"
	IndexOfOther      Kind = "IndexOfOther" // the name is the index of another rule
	BadCharacter      Kind = "BadCharacter"
	BadEnd            Kind = "BadEnd" // the last character may only be inside a name
	TooLong           Kind = "TooLong"
	ReservedReason    Kind = "ReservedReason"
)

// String returns the violation on one line, such as
//
//	rule 2 "exit-2": '-' is not allowed
//
// in printable ASCII, with a name that is too long truncated.
func (v Violation) String() string {
	if v.Rule < 0 {
		return v.Problem
	}
	return "rule " + strconv.Itoa(v.Rule) + " " + quote(v.Name) + ": " + v.Problem
}

// quote makes any text safe to print, and short. Valid names are shown in full. Letters that only look like ASCII are
// escaped, since they may be the error.
func quote(text string) string {
	if len(text) > MaxLen {
		return strconv.QuoteToASCII(text[:40]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
