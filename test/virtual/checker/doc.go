// Package checker checks the invariants of a Job controller (S1–S12, L1, L2, L5 of docs/internals/requirements.md) at every write
// in the virtual cluster of pkg/sim.
//
// The Checker is a sim.Observer with a history of its own. It never reads the controller's cache. It excuses a mistake
// if the controller could not know better when it planned the write, judging by what its watches had delivered by then
// (sim.Knowledge). The rules between two versions of a Job and its pods, apart from what any process knows, are in
// test/virtual/rules.
//
// Scenarios, storms and the model checker share it (pkg/sim, test/virtual/scenario, test/virtual/storm, test/virtual/prove).
package checker
