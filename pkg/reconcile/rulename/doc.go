// Package rulename reads the names of pod failure policy rules (KEP-4443): how an annotation of the Job holds them,
// which names are valid, and the condition reasons made from them.
//
//	rules[].name (1.38) ─┐
//	                     ├─► Resolve ─► Names ─► Reason ─► PodFailurePolicy_ExitCode2
//	annotation ──────────┘      └─────► violations, why names were dropped
//
// # The annotation
//
// The KEP puts a name into spec.podFailurePolicy.rules[]. API servers without that
// field drop it, so the names are in an annotation of the Job,
// batchjob.dev/pod-failure-policy-rule-names, as index=name joined by ";":
//
//	0=ExitCode2;2=OOMKilled
//
// Rules are addressed by index, which is stable: podFailurePolicy is immutable. Names may
// contain "," and ":" (KEP-4443, Validation: the pattern of a condition reason), but
// neither "=" nor ";". A rule without an entry, or with an empty name, is unnamed. Spaces
// are not allowed. The order of entries does not matter.
//
// # What the package promises
//
// It is pure, and accepts any text. Either all names are valid or none is used: one violation invalidates the whole
// annotation, as the API server would reject the whole Job. Violations and lint warnings are printable ASCII of bounded
// length for any input.
//
// The ValidatingAdmissionPolicies in config/admission enforce the same rules in CEL; a test on a real API server
// compares the two. Change both.
//
// # What it leaves to the caller
//
// The caller decides whether the feature is enabled, whether a rule's action is FailJob, and when a reason is set: once
// FailureTarget has the reason, it is copied (PFN-03, PFN-27).
package rulename
