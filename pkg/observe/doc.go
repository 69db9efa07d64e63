// Package observe converts Kubernetes objects into the input of package reconcile,
// and keeps them in a cache that shows the caller's own writes at once.
//
// # Read-your-writes
//
// A watch delivers the caller's own writes only some time later. Until then the Cache
// shows the object that the write returned: of two versions of one object the newer
// resourceVersion wins, no matter where it is from. (Versions of one resource can be
// compared since Kubernetes 1.35.) So there are no counters of expected events.
//
// Two cases need care. An object that the caller created may be deleted, and its
// deletion delivered, before the create call returns: a returned object whose version
// the watch has already passed is not added again. And an object that the caller
// deleted may still be in events in flight: it is remembered as gone until the watch
// delivers the deletion. A pod that a call did not find is remembered as long as its Job
// exists, as nobody knows since when it is gone (missingPod).
//
// # Pod ownership
//
// The Cache keeps the pods that a batch/v1 Job controls, and those without a controller
// (strays), which a Job may adopt. It drops all others. A stray that still has the tracking
// finalizer also belongs to the Job that lost it, so that the finalizer is removed once
// that Job is gone; or to the UnknownJob of its namespace, if it does not name its Job.
//
// # Pods that are not watched
//
// With WatchesLabel, the watch delivers only pods with a label. A deletion that it reports may
// be that of the label, so a pod that matters is kept as it was, until a write or a read of
// the caller shows its state (Unwatched). What the caller wrote or read lately is newer than
// older events about the label.
//
// # Memory
//
// A pod takes about 430 bytes: a reconcile.Pod, its strings, of which all versions share
// one each, and its entries in the tables. Labels are kept only for strays, and for pods
// without the label of a generated selector. The watch writes into the Cache directly;
// there is no second copy in an informer.
package observe
