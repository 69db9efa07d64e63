// Package tui is the interactive view of Jobs: a list of Jobs, one Job with the map of its indexes, one pod with its logs,
// and the explanation.
//
// It draws Snapshots (pkg/tui/snapshot) and has no access to a cluster. Update reads no clock and does no I/O: ticks,
// Snapshots and the results of writing files arrive as messages. All text goes through pkg/layout, which makes it safe for
// the terminal. This package contains the Model with its stack of screens, the frame around them, and the help. The screens
// are in joblist, job and pods; screen has their interfaces and data, and widget their components. BenchmarkFrame measures a
// frame of a huge Job.
package tui
