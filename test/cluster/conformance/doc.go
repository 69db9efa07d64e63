// Command conformance checks whether a Job controller keeps the promises of the Jobs API: the built-in controller of
// Kubernetes, or a controller that runs the Jobs with its name in spec.managedBy. It works on any cluster and reads only
// the objects that the API server stores.
//
//	go run ./test/cluster/conformance --kubeconfig ~/.kube/config --managed-by example.com/x
//
// It shares no code with the controllers of this project: their packages are off limits (.golangci.yml). It uses the
// recorder and the checker of the project's tests, which are implemented independently (packages history and
// invariants).
//
// Package cases has the cases, suite runs them, pods runs their pods, report writes the results. Package broken has
// controllers with planted bugs, which prove that the suite finds bugs.
package main
