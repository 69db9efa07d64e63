// Package compat runs the plugin, and in some tests the controller, against the API servers of older Kubernetes releases,
// with the releases' own Job controller: `make test-compat` builds each release first. The results are in
// docs/controller.md.
//
// The tests have the build tag compat, as building a release takes minutes. These environment variables configure them:
//
//	KUBE_VERSION            the release, for example v1.34.4; default: hack/controlplane's version
//	BATCHJOB_COMPAT_BINARY  another binary than bin/kubectl-batchjob
//	BATCHJOB_COMPAT_DIR     the folder of a cluster that runs already: hack/controlplane up --dir
//	BATCHJOB_COMPAT_GATES   feature gates of the cluster, for example JobManagedBy=false
package compat
