// Package feed keeps up with the Jobs of a cluster, for all verbs that follow them: it lists and watches, and hands over
// each change. It never writes, and never decides what to show.
//
// There is one loop, Watch.Run: it lists, watches from there, continues a watch that ended, lists again when its version
// has expired (410), and tries a lost connection again. What a caller has to do:
//
//   - open a Connection of a Link, whose State is whether what was handed over is still kept up to date, and run a Pulse
//     beside it, which notices an API server that is silent;
//   - decide with Watch.Retry whether a refusal (403) is an end or a reason to ask again later, and take note of the
//     Refusal.
//
// Jobs compares lists with what it has handed over before, so that its callers see changes only: a Job that exists,
// that was deleted, or in whose place there is another one of the same name. EndOf decides how a Job ended, for all who
// wait.
//
// Package live makes Snapshots for the interactive view of what comes from here. ADR 0014 compares the loop with
// client-go's Reflector.
package feed
