// Package invariants checks what a Job controller did, using only the stored versions of its Jobs and pods (package
// history), not the controller's cache or log. The integration tests, the e2e tests and the soak share it.
//
//	Check      S1..S6, S9, S11 of docs/internals/requirements.md, the rules for a status,
//	           and the evidence for each number and reason
//	AtRest     L2, once nothing happens anymore
//	Territory  S8: which client wrote which field, by metadata.managedFields
//
// The checker has counters of its own. The rules between two versions, and the rules of the API, such as a
// podFailurePolicy, are in package rules, which shares no code with the controller, and applies them in the simplest way
// so that it exposes the controller's mistakes. The checker of the virtual cluster (test/virtual/checker) uses package rules,
// too; each has its own excuses.
//
// It excuses the controller for what it could not know: a decision is correct if it was correct for any version since
// the controller's last status write, which requires the latest version. Excuses hold facts that no version shows: who
// removed a finalizer, and when a creation arrived at the API server.
//
// The invariants are ours. The controller built into Kubernetes breaks some of them, as do tests that forge statuses,
// end pods twice, or disable features; they must ignore the violations that they expect.
package invariants
