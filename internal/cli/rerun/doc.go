// Package rerun creates retries of Jobs on a cluster, for the verbs and the interactive view.
package rerun
