// Command conformance checks whether a Job controller keeps the promises of the Jobs API: the
// one built into Kubernetes, or one that runs Jobs with its name in spec.managedBy. It works on
// any cluster, and looks only at what the API server stores.
//
//	go run ./test/conformance --kubeconfig ~/.kube/config --managed-by example.com/x
//
// It shares no code with the controllers of this project: their packages are off limits
// (.golangci.yml). Of the project it uses the recorder and the checker of its tests, which have
// accounts of their own (packages history, invariants and statusrules).
//
// Package cases has the cases, suite runs them, pods runs their pods, report writes the results.
// Package broken has controllers with planted bugs, which show that the suite finds them.
package main
