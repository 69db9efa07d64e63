// Package sim is a virtual cluster in which the real controller.Engine runs: an
// API server in memory, a scripted kubelet, watches that lag behind, and a clock
// that jumps from one event to the next. Hours pass in milliseconds.
//
// One thing happens at a time, in an order derived from a seed: the same seed gives
// the same trace, so every failure is reproducible.
//
//   - Store is the API server: resourceVersions and conflicts, finalizers and
//     deletion, eviction, and the status rules of batch/v1 (STV-01..21).
//   - World is the clock, the order of events, the kubelet, the garbage collectors and one
//     or two controller processes. Calls wait in virtual time, so that anything that is due
//     happens between them.
//   - Options.Fault injects faults into API calls: crashes, late writes, lost answers,
//     rejections. Options.WatchFault injects them into watches: relists, old lists,
//     duplicate events. Outages, wrong clocks, a second leader, other shards and the deletion
//     of the namespace are methods of World.
//
// The tests of this package attach an observer, the Checker, which checks the invariants of a Job
// controller (S1–S12, L1, L2, L5) at every write, against its own history of the cluster. They run
// scenario files (testdata/README.md), replay them with a fault at every single API call, and run
// random storms. A World without an observer is cheap: 10^5 pods take seconds.
//
// # Every history of small worlds
//
// A decider takes the place of the seed. TestProve (explore_*_test.go, make prove) uses one to
// take every step that is possible in every state of small worlds, breadth first: a call arrives
// at the API server, or its answer at the controller; a watch delivers its next event; a node or
// a garbage collector acts; a user acts; the next timer fires; and each of these may go wrong. A
// state is reached by replaying the choices that lead to it, because syncs are coroutines. Two
// states are one if they have the same fingerprint. These simplifications make that finite:
//
//   - Versions of one resource are compared by their order, since nothing else about them
//     matters. So are the times of the Checker that some process may not know of.
//   - Other times are relative to now, in steps of 10 ms. All that happens between two timers
//     takes less than that in these worlds, and no timer is shorter than a second. What is older
//     than three minutes is equally old: no wait in these worlds is longer.
//   - What a sync in flight will do is a function of what it has read. A hash of that, with the
//     versions that it may name in preconditions, stands for its stack.
//   - A watch delivers at once what the cache of its process already has: the process's own write,
//     whose answer came first. The cache ignores such an event, and only how far the watch is
//     changes. (The smallest worlds are also explored without this.)
//   - The operations of a stage are made one after the other, in every order.
//   - Nodes, garbage collectors and users act at any time, and have no timers. Time passes when
//     no message is on its way, or as often as the world says although one is.
//   - The search for pods without the label of the watch is left out: all pods have it.
//
// Pods are not symmetric: they are named in the order of creation, which decisions may use. A
// fingerprint has 64 bits: of ten million states, the chance that two are mistaken for one is
// three in a million.
package sim
