// Package snapshot is the interface between the cluster and the screens: a Snapshot is all data about the user's Focus at one
// moment, and a Source makes a sequence of Snapshots. The screens of pkg/tui draw only Snapshots; the Source of
// internal/feed/live watches a cluster, and a Player plays the output of a Recorder.
//
// A Snapshot and everything it points to never changes after it was returned, so that several goroutines may read it, and
// Snapshots may share parts: equal pointers mean equal content. Strings are unchanged from the cluster; the code that draws
// them must make them safe.
package snapshot
