// Package troubles has the parts of test/cluster/soak that disturb a cluster and record the disturbances: the troubles and
// their ledger, the processes of a control plane, client certificates, and the holders of shards.
package troubles
