// Package history records every stored version of Jobs and pods, as reported by the watches of the API server, for tests
// that check how a result came about, not only the result.
//
// One watch reports Jobs, another one pods. Resource versions give their order: all resources of one etcd share one
// counter.
//
// The package also has the predicates on Jobs and pods that such tests need. It does not use the code under test.
package history
