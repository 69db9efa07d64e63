// Package integration tests the controller against a real etcd and kube-apiserver.
//
//	go test -race ./test/cluster/integration
//
// It tests behavior that only an API server can show: validation, admission, conflicts, permissions, watches, requests
// on the wire, outages, leaders, processes. The meaning of a Job is tested by the cases of test/cluster/conformance, which take
// a third of the lines and also run against the built-in controller.
//
// With -tags builtin, the tests named TestBeside_ run a real kube-controller-manager beside ours; it needs `make
// controlplane`, which builds all of it.
//
// There is no kubelet and no scheduler: the tests play both, through pods/status and through spec.nodeName in the
// template. Every test has its own namespace with its own controller, or several in sequence; all tests run in parallel.
//
// In every test, a recorder keeps every version of every Job and pod of its namespace, and every request of its
// controllers. At the end of the test both are checked against the invariants of a Job controller (package invariants,
// ownership_test.go) and the rules of the status. A violation fails the test and prints the whole
// history.
//
// The binaries come from hack/controlplane, which uses the ones in KUBEBUILDER_ASSETS if they have the same minor
// release.
package integration
