// Package observe converts Kubernetes objects into the input of package reconcile,
// and keeps them in a cache that shows the caller's own writes at once.
//
// # Read-your-writes
//
// A watch delivers the caller's own writes only some time later. Until then, the Cache shows the object that the write
// returned: of two versions of one object, the newer resourceVersion wins, regardless of its source. (Versions of one
// resource can be compared since Kubernetes 1.35.) So there are no counters of expected events.
//
// An object that the caller created may be deleted, and its deletion delivered, before the create call returns: a
// returned object whose version the watch has already passed is not added again. And events in flight may still show a
// pod that a call of the caller has ended or did not find: such a pod stays removed until the watch delivers its
// deletion.
//
// # Which pods are kept
//
// The watch delivers every pod that may belong to a Job: its spec.restartPolicy, which is immutable, is not Always. So
// a pod that the watch deletes, or that a new list lacks, is gone. The Cache keeps the pods that Jobs of the caller
// control, and the pods without a controller. The terms for pods that are not where they should be are:
//
//   - A stray has no controller. A Job may adopt it (JOB-35).
//   - An orphan has the tracking finalizer of a Job that is gone or no longer controls it, so a controller has to
//     remove the finalizer (TRK-20, TRK-22). It belongs to the UnknownJob of its namespace if nothing names its Job.
//   - A foreign pod is controlled by another object, such as a Job of another controller (IDL-01). It is never kept,
//     and its events are dropped before they are decoded (Cache.Ignores). While its Job is unknown, a pod may turn out
//     to be foreign.
//
// Package reconcile adds misfits: pods that a Job controls but does not need (Findings.Misfits).
//
// # Memory
//
// A pod takes about 430 bytes: a reconcile.Pod, its strings, which all its versions share, and its entries in the
// tables. Labels are kept only for strays, and for pods without the label of a generated selector. The watch writes
// into the Cache directly; there is no second copy in an informer.
package observe
