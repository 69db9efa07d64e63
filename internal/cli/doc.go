// Package cli is the command line of kubectl-batchjob: the root command and the verbs below it. Each verb is a
// package, with Options that hold its flags, and their Validate, Complete, and Run; cmdutil holds the code that the
// verbs share.
//
// It promises: data goes to stdout and everything else to stderr; text of the cluster or the kubeconfig passes
// pkg/sanitize before it is written for people. Reading verbs need no more than get, list and watch.
package cli
