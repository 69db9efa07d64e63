// Package storm plays random storms in the virtual cluster of pkg/sim: random Jobs, or the commands of a scenario file, while
// users, nodes, the API server and the controller's processes do whatever they can. A Checker watches, and what breaks an
// invariant is shrunk to a scenario file (docs/proof/storms.md).
//
// Every test run plays the same 1,500 storms. make storm goes on from there, and its ledger has the seeds of those that were
// played.
package storm
