package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// checkResourceVersions rejects an API server whose resourceVersions cannot be compared (KEP-5504): the controller needs them
// to find out which of its own writes a watch has delivered, and would stop in the middle of its work. It ignores a
// list that fails or takes too long; the watches retry and report it.
func checkResourceVersions(ctx context.Context, client kube.Interface, namespaces []string) error {
	namespace := metav1.NamespaceAll
	if len(namespaces) > 0 {
		namespace = namespaces[0]
	}
	ctx, cancel := context.WithTimeout(ctx, serverInfoTimeout)
	defer cancel()
	list, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil
	}
	version := list.ResourceVersion
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return cmdutil.NewUserError(kindUnsupported, nil, fmt.Sprintf("the resourceVersions of this API server cannot be compared (such as %q), so the controller could not tell what it has already counted", version),
			fmt.Sprintf("Kubernetes 1.%d and newer guarantee that they can be compared; with older versions, the store must be etcd", guaranteedSince))
	}
	return nil
}
