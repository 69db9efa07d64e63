// Package troubles has what the soak of test/e2e needs to disturb a cluster, and to keep account of
// that: the troubles and their ledger, the processes of a control plane, client certificates, and
// who holds the shards.
package troubles
