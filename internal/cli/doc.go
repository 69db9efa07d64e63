// Package cli is the command line of kubectl-batchjob: one file per verb, each an options struct with Complete,
// Validate and Run, and what the verbs share.
//
//	kubeconfig.go  from flags to a rest.Config and a namespace
//	jobclient.go   get, list and watch Jobs, as the server sent them
//	jobargs.go     resource arguments as kubectl takes them
//	jobtable.go    batchv1.Job and a time → cells; pure
//	jobprinter.go  table, JSON, YAML, name, templates
//	jobfollow.go   -w: one row per visible change, over lost connections
//	explainer.go   what belongs to a Job, for status NAME, explain-failure and wait
//	jobset.go      the Jobs that a verb looks at, listed and watched; watchloop.go keeps on
//	logs*.go       flags and output of logs; internal/logs reads them
//	errors.go      what an error says, and the exit code
//
// It promises: data goes to stdout and everything else to stderr; text of the cluster or the kubeconfig passes
// internal/sanitize before it is written for people; only environment reads the clock. Reading verbs need no more
// than get, list and watch.
package cli
