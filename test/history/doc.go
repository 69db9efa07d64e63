// Package history holds every stored version of Jobs and pods, as reported by the watches
// of the API server, for tests that check what happened, not only how it ended.
//
// Versions of Jobs and pods come by two watches. Their revisions put them into the
// order in which they were stored: all resources of one etcd share one counter.
//
// The package also has the predicates on Jobs and pods that such tests need. It does not
// use the code under test.
package history
