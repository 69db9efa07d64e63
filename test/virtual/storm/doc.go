// Package storm plays random storms in the virtual cluster of pkg/sim: random Jobs, or the commands of a scenario file,
// with random actions of users, nodes, the API server and the controller's processes. A Checker observes, and a storm
// that breaks an invariant is shrunk to a scenario file (docs/internals/proof/storms.md).
//
// Every test run plays the same 1,500 storms. make storm continues with new seeds, and records them in its ledger.
package storm
