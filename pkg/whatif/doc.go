// Package whatif replays a Job that ran, in a virtual cluster, with its own policies or with others: what would have
// happened?
//
//   - Observe makes a History from the data about a Job (explain.Input): what each of its pods did, and
package whatif
