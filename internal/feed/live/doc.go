// Package live makes Snapshots of a cluster for the interactive view and for watch --plain.
//
// A Source follows a set of Jobs, and everything related to the Job, pod and log in focus. Data that it may not read becomes
// a gap in the report on the Job, not an error. It gets, lists and watches, and never writes. Watches update the state under
// Source.mu; a single goroutine makes Snapshots of that state, at a pace that leaves CPU time to other processes (pace.go). A
// Snapshot never changes after it was published.
package live
