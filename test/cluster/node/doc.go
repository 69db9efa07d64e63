// Package node installs the controller as users do, on a real node: a kubelet with containerd runs its image, and real
// containers of Jobs write logs, run out of memory, and end with exit codes and signals.
//
// The tests have the build tag node, need root on Linux, and run in a cluster started by hack/node/run.sh: `make test-node`
// does all of that. config/default is applied unchanged. Its pods run on the same machine, so the tests can read the kernel's
// view of them.
//
// These environment variables configure the tests:
//
//	BATCHJOB_NODE_BINARY     another plugin than the one that was built for the image
//	BATCHJOB_NODE_MANIFESTS  another folder than config/default, to check that the tests reject it
package node
