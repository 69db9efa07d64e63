// Package sim is a virtual cluster in which the real controller.Engine runs: an in-memory API server, a scripted
// kubelet, watches that lag behind, and a clock that jumps from one event to the next. Hours pass in milliseconds.
//
// One event happens at a time, in an order derived from a seed: the same seed gives the same trace, so every failure is
// reproducible.
//
//   - Store is the API server: resourceVersions and conflicts, finalizers and
//     deletion, eviction, and the status rules of batch/v1 (STV-01..21).
//   - World is the clock, the order of events, the kubelet, the garbage collectors and one
//     or two controller processes. Calls wait in virtual time, so that any event that is due
//     happens between them.
//   - Options.Fault injects faults into API calls: crashes, late writes, lost responses,
//     rejections. Options.WatchFault injects them into watches: relists, old lists,
//     duplicate events. Outages, wrong clocks, a second leader, other shards and the deletion
//     of the namespace are methods of World.
//
// A World reports its events to an Observer, which test/virtual/checker uses to check the invariants of a Job controller at
// every write, and lets a Decider choose the next event, which test/virtual/prove uses to take every possible step. view.go is
// their access to the state of the World, its Processes and their Knowledge. A World without an Observer is cheap: 10^5
// pods take seconds.
//
// The tests of this package run scenario files (testdata/README.md, test/virtual/scenario), replay them with a fault at every
// single API call, and replay them in storms: random faults.
package sim
