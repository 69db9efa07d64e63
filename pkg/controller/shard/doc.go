// Package shard divides the namespaces of a cluster into shards, and the shards among the
// replicas of a controller. It is pure: package leader holds the Leases.
//
// A shard is a range of the 64-bit FNV-1a hash of the namespace, which the API server
// computes too (KEP-5866), so that it can filter lists and watches. Jobs and pods of a
// namespace belong to the same shard.
package shard
