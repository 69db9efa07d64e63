// Package rulename holds the names of pod failure policy rules (KEP-4443): how they
// travel in an annotation of the Job, which names are legal, and which condition
// reason they make.
//
//	rules[].name (1.38) ─┐
//	                     ├─► Resolve ─► Names ─► Reason ─► PodFailurePolicy_ExitCode2
//	annotation ──────────┘      └─────► violations, why names were dropped
//
// # The annotation
//
// The KEP puts a name into spec.podFailurePolicy.rules[]. API servers that do not
// serve that field drop it, so names travel in an annotation of the Job,
// batchjob.dev/pod-failure-policy-rule-names, as index=name joined by ";":
//
//	0=ExitCode2;2=OOMKilled
//
// Rules are addressed by index, which is stable: podFailurePolicy is immutable. Names
// may contain "," and ":" (KEP-4443, Validation: the pattern of a condition reason),
// but neither "=" nor ";". A rule without an entry, or with an empty name, is unnamed.
// Spaces are not allowed, the order of entries does not matter.
//
// # What the package promises
//
// It is pure, and takes any text. Names are all right or not used at all: one
// violation makes the annotation as a whole invalid, as the API server would have
// rejected the whole Job. What a violation or a lint says is printable ASCII of a
// bounded length, whatever the text was.
//
// The ValidatingAdmissionPolicies in config/admission say the same in CEL; a test on a
// real API server holds the two together. Change both.
//
// # What it leaves to the caller
//
// Whether the feature is on, whether a rule's action is FailJob, and when a reason is
// set: once FailureTarget has it, it is copied (PFN-03, PFN-27).
package rulename
