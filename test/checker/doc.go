// Package checker checks the invariants of a Job controller (S1–S12, L1, L2, L5 of docs/requirements.md) at every write in
// the virtual cluster of pkg/sim.
//
// The Checker is a sim.Observer with a history of its own. It never looks into the controller's cache: what the controller
// could not know when it planned a write is an excuse, and it follows from what its watches had delivered by then
// (sim.Knowledge). What must hold between two versions of a Job and its pods, whoever knows them, is in test/rules.
//
// Scenarios, storms and the model checker share it (pkg/sim, test/scenario, test/storm, test/prove).
package checker
