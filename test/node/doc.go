// Package node installs the controller as users do, on a node that is not simulated by kwok:
// a kubelet with containerd runs its image, and real containers of Jobs write logs, use up
// their memory, and end with exit codes and signals.
//
// The tests have the build tag node, need root on Linux, and run where hack/node/run.sh has
// started a cluster: `make test-node` does all that. config/default is applied as it is. Its
// pods run on the same machine, so the tests can look at them as the kernel sees them.
//
// These variables of the environment direct them:
//
//	BATCHJOB_NODE_BINARY     another plugin than the one that was built for the image
//	BATCHJOB_NODE_MANIFESTS  another folder than config/default, to see that it is found wanting
package node
