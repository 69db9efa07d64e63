// Package controller is the shell around the decision core of package reconcile.
//
// Engine syncs one Job: it observes, calls reconcile.Compute, applies the plan, and
// repeats until nothing is left to write. It is single-threaded except for the
// operations of one stage, and accesses the cluster through the narrow interfaces of
// package cluster, so that package sim runs the same code.
//
// Runtime runs an Engine on a live cluster: watches, a queue, workers, shutdown.
//
//	err := controller.New(controller.Config{Client: client}).Run(ctx)
//
// # When a Job is synced
//
// A new Job, a changed spec and a deletion sync the Job at once. Pod events are batched (JOB-53): the first event after
// a quiet period syncs at once, and further events wait until the period is over, so that a busy Job is synced about
// once per period. The end of a Job's last active pod does not wait: nothing happens until the controller reacts.
// Status writes that change no condition are at least one period apart.
//
// # Fields that our types do not have
//
// Jobs are read as JSON. If a newer API server stores pod template fields that our types lack, pods are created from
// the JSON, or not at all (JOB-39).
//
// # Pod ownership
//
// A Job adopts the pods of its namespace that match its selector and have no controller, once a live read has shown
// that the Job still exists. It disowns pods that no longer match (JOB-35..37). Each adoption or disowning is one patch
// (TRK-25).
//
// The tracking finalizer is removed from pods of a deleted Job: at once if this process saw the Job and it was ours;
// otherwise, as after a restart, if the pod is marked as created by this program, and a live read shows that the Job is
// gone (TRK-20, TRK-22). Pods of other controllers are left to kube-controller-manager (TRK-23). A controller that
// replaces the built-in one also releases pods that have no controller, name no Job, and cannot be adopted by any Job.
package controller
