// Package cli is the command line of kubectl-batchjob: one file per verb, each an options struct with Complete,
// Validate and Run, and what the verbs share.
//
//	kubeconfig.go  from flags to a rest.Config and a namespace
//	jobargs.go     which Jobs a verb is asked for: resource arguments and flags as kubectl takes them
//	jobclient.go   the client of these Jobs, a feed.JobSet
//	jobtable.go    batchv1.Job and a time → cells; pure
//	jobprinter.go  table, JSON, YAML, name, templates
//	statuswatch.go -w: one row per visible change
//	waiter.go      wait: how Jobs end
//	liveview.go    the source of the interactive view, and of watch --plain
//	explainer.go   what belongs to a Job, for status NAME, explain-failure and wait
//	connection.go  what is said of a connection that is lost; internal/feed follows Jobs
//	logs*.go       flags and output of logs; internal/logs reads them
//	errors.go      what an error says, and the exit code
//
// It promises: data goes to stdout and everything else to stderr; text of the cluster or the kubeconfig passes
// internal/sanitize before it is written for people; only environment reads the clock. Reading verbs need no more
// than get, list and watch.
package cli
