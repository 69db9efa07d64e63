// Package invariants judges what a Job controller did, by every version of its Jobs and
// pods that was stored (package history), and by nothing else: neither the controller's
// cache nor its log. The integration tests, the e2e tests and the soak share it.
//
//	Judge      S1..S6, S9, S11 of docs/requirements.md, the rules for a
//	           status (package statusrules), and why each number and reason is what it is
//	AtRest     L2, once nothing happens any more
//	Territory  S8: who wrote what, by metadata.managedFields
//
// The judge keeps a count of its own. Where a rule of the API has to be applied, a
// podFailurePolicy for example, it does so itself, in the plainest way, so that a mistake
// in the controller's reading shows. The simulator has a judge of its own, written
// independently (pkg/sim).
//
// It excuses the controller for what it could not know: a decision is right if it was
// right for a version since the controller's last status write, which nobody but the
// holder of the latest version can make.
//
// The invariants are ours. The controller built into Kubernetes breaks some of them, as
// do tests that forge statuses, end pods twice, or switch features off; whoever judges
// those says which violations are none.
package invariants
