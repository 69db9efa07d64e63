// Package tui is the interactive view of Jobs: a list of them, one Job with the map of its
// indexes, one pod with its logs, and the explanation.
//
// It draws Snapshots (pkg/tui/snapshot) and knows no cluster. Update reads no clock and
// does no I/O: ticks, Snapshots and files that were written are messages. All text goes
// through pkg/layout, which makes it safe for the terminal. A screen is one file; it
// gets a paint with the size and what is known, and returns lines. What a frame of a huge
// Job costs is measured by BenchmarkFrame.
package tui
