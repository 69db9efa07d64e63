// Package model is a Job controller as promised by the API of batch/v1, written to be read rather than to run in a
// cluster: one Job, its pods, and one loop.
//
// A Case is a Job, the behavior of its pods, and the actions of users. Run simulates it until nothing happens anymore,
// and returns the Outcome. It has none of the machinery of a real controller: finalizers, stages, batches, caches,
// expectations, conflicts. A pod is settled once its result is in the status; there is no other tracking.
//
// Without Rules the model behaves like the controller built into Kubernetes. Each of the Rules is a documented
// difference from it.
//
// The API does not promise how soon a controller reacts. A Pace draws the delays and other open choices, such as which
// of several equal pods is removed first. If the Outcome of a Case is the same for every Pace, the API alone determines
// it.
//
// The model shares no code with the controller under test, and imports only the types of the API.
package model
