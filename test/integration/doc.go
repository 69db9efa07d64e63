// Package integration tests the controller against a real etcd and kube-apiserver.
//
//	go test -race ./test/integration
//
// Here is what only an API server can show: validation, admission, conflicts, permissions, watches, requests on the wire,
// outages, leaders, processes. What a Job means is for the cases of test/conformance, which cost a third of the lines and run
// against the built-in controller, too.
//
// With -tags builtin, the tests named TestBeside_ run a real kube-controller-manager beside ours; it needs
// `make controlplane`, which builds all of it.
//
// There is no kubelet and no scheduler: the tests play them, through pods/status
// and through spec.nodeName in the template. Every test has a namespace, and in it
// a controller, or several one after the other, of its own; all run in parallel.
//
// Whatever a test is about, a recorder keeps every version of every Job and pod of
// its namespace, and every request of its controllers. At the end of the test both
// are held against the invariants of a Job controller (invariants_test.go,
// ownership_test.go) and the rules of the status (test/statusrules); a test that
// breaks one fails with the whole history.
//
// The binaries come from hack/controlplane, which uses those of KUBEBUILDER_ASSETS if they are
// of the same minor release.
package integration
