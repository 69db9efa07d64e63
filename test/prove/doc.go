// Package prove is a model checker: it explores every history of small worlds in the virtual cluster of pkg/sim, with the
// real Engine, and checks each state with test/checker.
//
// A sim.Decider takes the place of the seed. TestProve (make prove) uses one to
// take every step that is possible in every state of small worlds: a call arrives at the API
// server, or its answer at the controller; a watch delivers its next event; a node or a garbage
// collector acts; a user acts; the next timer fires; and each of these may go wrong. A state is
// reached by replaying the choices that lead to it, because syncs are coroutines. Two states are
// one if they have the same fingerprint. These simplifications make that finite:
//
//   - Versions are compared by their order, since nothing else about them matters: those of an object with others of
//     it that the same process or the store has, and with up to where the process has read. That of a list is that of
//     the last write to its resource.
//   - Most times that the Checker remembers only excuse a process that may not know what happened
//     then. Each is compared with the moments that it can ever be compared with: since when a watch
//     has not delivered what was stored, a sync may not have known, a write is on its way, a process
//     runs. Only which of them are before it matters. If it is before all of them, it excuses nobody anymore, and is
//     left out, along with what else is remembered for that. Processes that ended, and of which no write is on its way,
//     are the same.
//   - Other times are relative to now, in steps of 10 ms. All that happens between two timers
//     takes less than that in these worlds, and no timer is shorter than a second. What is older
//     than any wait is equally old: three minutes, or three seconds as long as no pod has failed
//     or is being deleted, and there is no deadline.
//   - What a sync in flight will do is a function of what it is about to do in its present stage, and
//     of what it remembers for the next one: both are in the log at -v=6 (controller.Engine). A hash
//     of that stands for its stack, with the versions that it names in preconditions. The order of
//     the calls of a stage makes no difference to it: results are kept as sets. The status that it is to write makes none
//     once somebody else has written the Job, unless there are faults. A read of the Job between the calls of a stage
//     only changes the cache. While a sync lists pods, a hash of the Job as it knows it stands for its stack, and while it
//     reads otherwise between two plans, a hash of all that it has read.
//   - A process that knows how a Job ends plans no creations: what only they depend on, such as the back-off, is left out.
//   - Where the cache has a pod, in which order, does not matter: Compute makes the same plan for
//     every order (S10, which the Checker checks in each state).
//   - A watch delivers at once what the cache of its process already has: the process's own write,
//     whose answer came first. The cache ignores such an event, and only how far the watch is
//     changes.
//   - The operations of a stage are made one after the other, in every order.
//   - Nodes, garbage collectors and users act at any time, and have no timers. Time passes when
//     no message is on its way, or as often as the world says although one is.
//   - After a fault of a call, L5 is not checked: retries may wait longer than these worlds last.
//   - Faults come in two kinds of worlds, since those after which the controller does not know of a pod that it
//     created make a world some ten times as large: "an unseen creation" has one of these, "one fault" and "two
//     faults" have all others.
//
// Some steps are not taken in some states, because they may as well be taken later: the same
// states follow, and the same writes are checked (reduce_test.go). A step is local if it
// changes only what one process knows: its watches deliver, its call is answered, its sync begins.
// Local steps commute with all steps of others, and with calls that arrive at the API server.
//
//   - While the call of a process is on its way to the API server, its watches deliver nothing:
//     the process reads nothing before the answer. (If watches may be closed, they may then, too.)
//   - If both watches of the only process have something to deliver, only its local steps are taken, unless
//     its call is on its way: others can only add to what is delivered later, and cannot
//     prevent anything, or lead to another local step. The watch of Jobs may be empty if nobody else
//     writes to the Job anymore. That it goes first makes the Checker stricter: the process knows
//     more when something else is written.
//   - With several processes, one that takes a local step continues until its next call arrives, or until it
//     has nothing left to do: what others do in between can just as well happen before. That only adds to the
//     end of its watches, and the Checker excuses a process for what it did not know itself, whatever
//     others knew.
//   - A sync that is due does not begin while its Job is being synced: it would only be noted that
//     another one follows.
//   - If time may pass although messages are on their way, nothing is left out.
//
// In some worlds, pods are symmetric: no decision depends on which one has which name, because the
// controller chooses among equal pods only when it removes some. There, pods are numbered by
// their state, so that states that differ only in who is who are one.
//
// The smallest worlds are also explored without all this (TestReductionsKeepVerdicts_PRV_05). A
// fingerprint has 64 bits: of ten million states, the chance that two are mistaken for one is
// three in a million.
package prove
