// Package etcd talks to the etcd of a test cluster, through its JSON gateway: there is no need
// for another module. Watches of etcd continue where they ended, also when the API server has
// lost its own memory of what happened.
package etcd
