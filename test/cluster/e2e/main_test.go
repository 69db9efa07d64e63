// Package e2e runs the real binary on the cluster of package testcluster.
//
// All tests share the cluster and run in parallel, each in a namespace of its own. A test that stops, configures or restarts a
// controller starts its own, with a managedBy value of its own.
package e2e

import (
	"context"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history/follow"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
)

var (
	cluster *testcluster.Cluster
	// binary, kubectl and kubeconfig are paths; kubeconfig is the administrator's.
	binary, kubectl, kubeconfig string
	client                      kubernetes.Interface
	past                        chronicle
)

func TestMain(m *testing.M) {
	os.Exit(testcluster.Run("e2e", "24", record, func(c *testcluster.Cluster) int {
		cluster, binary, kubectl, kubeconfig, client, past = c, c.Binary, c.Kubectl, c.Kubeconfig, c.Client, chronicle{c.Past}
		return m.Run()
	}))
}

// record stores the versions that the API server's watches deliver.
func record(ctx context.Context, c *testcluster.Cluster) error {
	_, err := follow.All(ctx, c.Client, metav1.NamespaceAll, c.Past)
	return err
}
