// Package tui is the interactive view of Jobs: a list of them, one Job with the map of its
// indexes, one pod with its logs, and the explanation.
//
// It draws Snapshots (pkg/tui/snapshot) and has no access to a cluster. Update reads no clock
// and does no I/O: ticks, Snapshots and files that were written are messages. All text goes
// through pkg/layout, which makes it safe for the terminal. This package has the Model with its
// stack of screens, the frame around them, and the help. The screens are in joblist, job and
// pods; screen has their interfaces and data, and widget what they are made of.
// BenchmarkFrame measures what a frame of a huge Job costs.
package tui
