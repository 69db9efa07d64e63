// Package compat runs the plugin, and for a while the controller, against API servers of
// older Kubernetes releases, with the Job controller that they bring: `make test-compat`
// builds each of them first. docs/compatibility.md has what was found.
//
// The tests have the build tag compat, as a release takes minutes to build. These
// variables of the environment direct them:
//
//	KUBE_VERSION            the release, for example v1.34.4; else that of hack/controlplane
//	BATCHJOB_COMPAT_BINARY  another binary than bin/kubectl-batchjob
//	BATCHJOB_COMPAT_DIR     the folder of a cluster that runs already: hack/controlplane up --dir
//	BATCHJOB_COMPAT_GATES   feature gates of the cluster, for example JobManagedBy=false
package compat
