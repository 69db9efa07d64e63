// Package lint reviews a Job, or the Jobs of a CronJob: it finds settings that the API server will reject, that can
// never work, or that are probably mistakes.
//
//	object as written, names of rules ─► Check ─► Findings, each with a field, a severity and a fix
//
// It is pure, and accepts any object. Package schema compares names and types with the API, and corrects a copy where
// the intended value is certain; the checks read the corrected copy. Package apirules has what the API server
// rejects, package command analyzes the commands of containers, and package placeholder finds text that was
// not replaced. There is one file per API field, with small checks, which are listed in lint.go. The ID of a finding
// is stable; messages are not.
//
// # Severities
//
// Error: the API server rejects the object (Rejected), or it can never work. Warning: it works, but probably not as
// intended. Info: good to know. Rejected is for Kubernetes 1.37; a test compares it with a real API server. Not all
// validation of an API server is included: of the pod template, only the fields that matter to Jobs.
//
// # What it leaves to the caller
//
// Finding fields in a file, and making messages safe for a terminal: they quote the object.
package lint
