// Package history holds every stored version of Jobs and pods, as the watches of the API
// server report them, for tests that judge what happened, and not only how it ended.
//
// Versions of Jobs and pods come by two watches. Their revisions put them into the
// order in which they were stored: all resources of one etcd share one counter.
//
// The package also answers the plain questions about Jobs and pods that such tests ask.
// It asks nothing of the product's code.
package history
