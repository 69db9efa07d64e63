// Package etcd is a client for the etcd of a test cluster, through etcd's JSON gateway, which needs no further module.
// Watches of etcd can be resumed, even if the API server has dropped its own watch history.
package etcd
