// Package live makes Snapshots of a cluster for the interactive view, and for watch --plain.
//
// A Source keeps up with a set of Jobs, and with what belongs to the one Job, the one pod, and the one log that are in
// focus. What it may not read is a gap in the report on the Job, and no error. It gets, lists, and watches, and never
// writes. Watches feed what is kept under Source.mu; a single goroutine makes Snapshots of that, at a pace that leaves the
// machine to others (pace.go). A Snapshot is never changed once it was handed out.
package live
