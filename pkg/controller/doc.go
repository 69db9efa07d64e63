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
package controller
