// Package snapshot is what stands between the cluster and the screens: a Snapshot is all
// that is known at one moment of what a user looks at, and a Source makes one after the
// other. The screens of pkg/tui draw Snapshots and nothing else; the live Source of
// internal/cli watches a cluster, and a Player plays what a Recorder wrote.
//
// A Snapshot and everything it points to is never changed once it was handed out, so that
// several goroutines may read it, and two Snapshots may share parts: equal pointers mean
// equal content. Strings are as the cluster has them; who draws them makes them safe.
package snapshot
