// Package observe turns Kubernetes objects into what package reconcile decides
// on, and keeps them in a cache that shows the caller's own writes at once.
//
// # Read-your-writes
//
// A watch delivers what the caller itself wrote only some time later. Until
// then the Cache shows the object that the write returned: of two versions of
// one object the newer resourceVersion wins, whoever delivers it. (Versions of
// one resource can be compared since Kubernetes 1.35.) So there are no counters
// of expected events.
//
// Two cases need care. An object that the caller created may be deleted, and
// its deletion delivered, before the create call returns: a returned object that
// the watch has already passed and that is not there is not brought back. And
// an object that the caller deleted may still be in events on their way: such an
// object is remembered as gone until the watch says so too.
//
// # Whose pods
//
// The Cache keeps the pods that a batch/v1 Job controls, and those that nobody
// controls (strays): a Job may adopt them. It drops pods that anybody else controls.
// A stray that still holds the tracking finalizer also belongs to the Job that lost
// it, so that somebody takes the finalizer when that Job is gone; or to the UnknownJob of
// its namespace, if it does not say which Job that was.
//
// # Memory
//
// A pod takes about 430 bytes: a reconcile.Pod, its strings, one of each however many
// versions come, and its place in the tables. Labels are kept only
// of strays, and of pods whose labels do not say by themselves that the Job selects
// them. The watch writes into the Cache directly; there is no second copy in an
// informer.
package observe
