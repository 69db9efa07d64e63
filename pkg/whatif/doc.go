// Package whatif replays a Job that ran, in the virtual cluster, with its own policies or with others:
// what would have happened?
//
//   - Observe makes a History from what is known of a Job (explain.Input): what each of its pods did, and
//     what users did to the Job.
//   - History.Replay runs the Job in a virtual cluster, where the pods do the same again, attempt by
//     attempt. It is deterministic.
//   - Compare sets two replays side by side.
//
// What a pod would have done that never ran, or that was stopped, is not known. A Model estimates it from
// what the same index did last, or else from what most pods did, and a Result has the number of pods whose
// behavior was such an estimate. History.Differences reports how a replay with the unchanged policy differs
// from what really happened.
package whatif
