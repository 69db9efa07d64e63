// Package prove is a model checker: it explores every history of small worlds in the virtual cluster of pkg/sim, with
// the real Engine, and checks each state with test/virtual/checker.
//
// A sim.Decider replaces the seed. With it, TestProve (make prove) takes every possible step in every state: a call
// arrives at the API server, or its response at the controller; a watch delivers its next event; a node or a garbage
// collector acts; a user acts; the next timer fires; and each of these may fail. Because syncs are coroutines, a state
// is reached by replaying the choices that lead to it. Two states are considered equal if they have the same
// fingerprint. These simplifications make the number of states finite:
//
//   - Versions are represented by their order, since nothing else about them matters. The version of an object is compared with
//     other versions of it in the same process or in the store, and with the position up to which the process has read. The
//     version of a list is the version of the last write to its resource.
//   - Most times in the Checker only excuse a process that may not know what happened at that time. Each is compared only with
//     the moments that can matter: the storing of an undelivered event, the first event that a sync may not know, the sending
//     of a write in flight. If a time is before all of these moments, it excuses no process anymore, and is left out, along
//     with any state that exists only for it. Processes that ended without a write in flight are equal.
//   - Other times are relative to now, in steps of 10 ms. Everything between two timers takes less than that in these worlds,
//     and no timer is shorter than a second. Times older than any wait are equal: three minutes, or three seconds while no pod
//     has failed or is being deleted, and there is no deadline.
//   - The actions of a sync in flight are a function of the work of its present stage and of what it remembers for the next
//     stage; both are in the log at -v=6 (controller.Engine). A hash of them, with the versions in its preconditions,
//     represents its stack. The order of the calls in a stage makes no difference to it: results are kept as sets. Without
//     faults, the status that it is about to write is ignored once another client has written the Job. A read of the Job
//     between the calls of a stage only changes the cache. While a sync lists pods, a hash of the Job as it knows it
//     represents its stack, and during other reads between two plans, a hash of everything that it has read.
//   - A process that knows how a Job ends plans no creations: state that only matters for creations, such as the back-off, is
//     left out.
//   - The order of pods in the cache does not matter: Compute makes the same plan for every order (S10, which the Checker checks
//     in each state).
//   - A watch delivers immediately what the cache of its process already has: the process's own write, whose response came
//     first. The cache ignores such an event; only the position of the watch changes.
//   - The operations of a stage are made one after the other, in every order.
//   - Nodes, garbage collectors and users act at any time, and have no timers. Time passes when no message is on its way, or as
//     often as the world allows it to pass although messages are on their way.
//   - After a fault of a call, L5 is not checked: retries may wait longer than these worlds last.
//   - Faults are divided between two kinds of worlds, since faults after which the controller does not know of a pod that it
//     created make a world some ten times as large: "an unseen creation" has one such fault, "one fault" and "two faults" have
//     all other kinds.
//
// Some steps are not taken in some states, because they may as well be taken later: the same states follow, and the same
// writes are checked (reduce.go). A step is local if it changes only the knowledge of one process: its watches
// deliver, its call is answered, its sync begins. Local steps commute with all steps of others, and with calls that
// arrive at the API server.
//
//   - While a call of a process is on its way to the API server, its watches deliver nothing: the process reads nothing before
//     the response. (If watches may be closed, they may also be closed during that time.)
//   - If both watches of the only process have something to deliver, only its local steps are taken, unless its call is on its
//     way: others can only add later deliveries, and cannot prevent a step, or cause another local one. The watch of Jobs may
//     be empty if no other client writes to the Job anymore. Delivering first makes the Checker stricter: the process knows
//     more at the next write.
//   - With several processes, a process that takes a local step continues until its next call arrives, or until it has nothing
//     left to do: the steps of others in between can just as well happen before. They only add to the end of its watches, and
//     the Checker excuses a process for what it did not know itself, regardless of the knowledge of others.
//   - A due sync does not begin while its Job is being synced: this would only record that another sync follows.
//   - If time may pass although messages are on their way, no steps are left out.
//
// In some worlds, pods are symmetric: no decision depends on their names, because the controller chooses among equal
// pods only when it removes some. In these worlds, pods are numbered by their state, so that states that differ only in
// the names of pods are equal.
//
// The smallest worlds are also explored without reductions (TestReductionsKeepVerdicts). A fingerprint has 64
// bits: in ten million states, the chance that two different states have the same one is three in a million.
package prove
