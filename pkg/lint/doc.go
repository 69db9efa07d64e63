// Package lint checks a Job, or the Jobs of a CronJob, as a careful reviewer would: it finds what the API server
// will reject, what can never work, and what is probably a mistake.
//
//	object as written, names of rules ─► Check ─► Findings, each with a field, a severity and a fix
//
// It is pure, and accepts any object. Package schema compares names and types with the API, and corrects a copy where the
// meaning is certain; the checks read what is left. Package podspec has the rules of the API server for pod templates,
// package command reads the commands of containers, and package placeholder finds text that was not replaced. There is one file per API field, with small checks, which are listed in
// table.go. A finding's ID is stable; messages are not.
//
// # Severities
//
// Error: the API server rejects it (Rejected), or it can never work. Warning: it works, but probably not as intended.
// Info: good to know. Rejected is for Kubernetes 1.37; a test compares it with a real API server. Not everything that
// an API server validates is checked here: of the pod template only what matters to Jobs.
//
// # What it leaves to the caller
//
// Finding fields in a file, and making messages safe for a terminal: they quote the object.
package lint
