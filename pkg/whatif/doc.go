// Package whatif replays a Job that ran, in a virtual cluster, with its own policies or with others: what would have
// happened?
//
//   - Observe makes a History from the data about a Job (input.Input): what each of its pods did, and
//     what users did to the Job.
//   - History.Replay runs the Job in a virtual cluster, where the pods do the same again, attempt by
//     attempt. It is deterministic.
//   - Compare compares two replays.
//
// The behavior of a pod that never ran, or that was stopped, is unknown. A Model estimates it from the last pod of the
// same index, or else from most pods, and a Result has the number of pods with estimated behavior. History.Differences
// reports how a replay with the unchanged policies differs from what really happened.
package whatif
