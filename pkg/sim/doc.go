// Package sim is a virtual cluster in which the real controller.Engine runs: an
// API server in memory, a scripted kubelet, watches that lag behind, and a clock
// that jumps from one event to the next. Hours pass in milliseconds.
//
// One thing happens at a time, in an order that is drawn from a seed: the same seed
// gives the same trace, so whatever goes wrong once goes wrong every time.
//
//   - Store is the API server: resourceVersions and conflicts, finalizers and
//     deletion, eviction, and the status rules of batch/v1 (STV-01..21).
//   - World is the clock, the order of events, the kubelet, the garbage collectors
//     and the controller process, or two at once. Calls wait in virtual time, so that
//     whatever is due happens between any two of them.
//   - Options.Fault says what goes wrong with an API call, Options.WatchFault with a watch:
//     crashes, writes that come late, lost answers, refusals; relists, old lists, events
//     that come twice. An outage, a wrong clock, a second leader, and the end of the
//     namespace are methods of World.
//
// The tests of this package attach an observer, the Checker, which checks the invariants of a Job
// controller (S1–S12, L1, L2, L5) at every write, against its own history of the cluster. They run
// scenario files (testdata/README.md), and replay them with a fault at every single API call, and
// in storms. A World without an observer is cheap: 10^5 pods take seconds.
package sim
