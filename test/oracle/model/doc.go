// Package model is a Job controller as the API of batch/v1 promises one, built to be
// read rather than to be run in a cluster: one Job, its pods, and one loop.
//
// A Case is a Job, what its pods do, and what users do. Run plays it to rest and returns
// the Outcome. Everything that a real controller has to do its work with is missing:
// finalizers, stages, batches, caches, expectations, conflicts. A pod is settled when its
// end has been entered in the books, and that is all there is to tracking.
//
// Without Rules the model does what the controller does that is built into Kubernetes.
// Each of the Rules is a documented difference from it.
//
// How soon a controller reacts is promised by nobody. A Pace draws that, and what else
// is open: which of several equal pods goes first. A Case whose Outcome is the same
// whatever the Pace is settled by the API alone.
//
// The model shares no code with the controller that it judges, and imports nothing but
// the types of the API.
package model
