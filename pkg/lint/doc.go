// Package lint says about a Job, or about the Jobs that a CronJob makes, what a careful reviewer would: what the API
// server will reject, what can never work, and what is probably not what was meant.
//
//	object as written, names of rules ─► Check ─► Findings, each with a field, a severity and a fix
//
// It is pure, and takes any object. One API field, one file: each has small checks, which are listed in table.go. A
// finding's ID is stable; messages are not.
//
// # Severities
//
// Error: the API server rejects it (Rejected), or it can never work. Warning: it works, but hardly as meant. Info: good
// to know. Rejected goes by Kubernetes 1.37; a test holds it against a real API server. Not everything that an API
// server checks is checked here: of the pod template only what Jobs depend on.
//
// # What it leaves to the caller
//
// Where a field stands in a file, and making texts safe for a terminal: they quote the object.
package lint
