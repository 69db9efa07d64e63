// Package controller is the shell around the decision core of package reconcile.
//
// Engine syncs one Job: it observes, asks reconcile.Compute, applies the plan, and
// does so again until nothing is left to write. It is single-threaded but for the
// operations of one stage, and knows the cluster through three narrow interfaces,
// so that package sim drives the same code.
//
// Runtime runs an Engine on a live cluster: watches, a queue, workers, shutdown.
//
//	err := controller.New(controller.Config{Client: client}).Run(ctx)
//
// # When a Job is synced
//
// A new Job, a changed spec and a deletion sync the Job at once. Pod events are
// batched (JOB-53): the first after a quiet period syncs at once, further ones
// wait until the period is over, so that a busy Job is synced about once a
// period. A pod whose end leaves the Job without any active pod does not wait:
// nothing more will happen until the controller reacts. Status writes that change
// no condition keep the same period between them.
//
// # Fields that our types do not have
//
// Jobs are read in JSON. Where an API server newer than this program stores more of a pod
// template than our types hold, pods are created from its JSON, or not at all (JOB-39).
//
// # Whose pods
//
// A Job adopts pods of its namespace that nobody controls and that its selector
// selects, once a live read has shown that the Job is still there, and lets go of
// those that it no longer selects (JOB-35..37). Each is one patch (TRK-25).
//
// The tracking finalizer is taken from pods of a Job that is gone: at once if this
// process saw the Job as ours; else, as after a start, if the pod says that this
// program created it, and a live read says that the Job is gone (TRK-20, TRK-22). Pods
// of anybody else are left to kube-controller-manager (TRK-23). A controller that runs in
// its place also lets go of pods that nobody controls, that name no Job, and that no Job
// may adopt.
package controller
