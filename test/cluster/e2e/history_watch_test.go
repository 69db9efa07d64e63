//go:build !soak

package e2e

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// follow records the versions that the API server's watches deliver.
func (h *chronicle) follow(ctx context.Context, _ string) error {
	_, err := history.Follow(ctx, client, metav1.NamespaceAll, h)
	return err
}
