package gather_test

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A log that a simulated node does not have is no gap; a real node whose kubelet cannot be reached is one.
// Requirements: CLI-79
func TestSimulatedNodesHaveNoLogs(t *testing.T) {
	unreachable := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: `Get "https://10.0.0.1:10250/containerLogs/ns/train-a/main": dial tcp`}}
	for annotation, isGap := range map[string]bool{"kwok.x-k8s.io/node": false, "other": true} {
		node, err := json.Marshal(&corev1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: "node-1", Annotations: map[string]string{annotation: "fake"}},
		})
		assert.NoError(t, err)
		client := answering(t, "application/json", node)
		pod := &input.Pod{Node: "node-1"}
		pod.Name = "train-a"
		gap := gather.LogGap(context.Background(), client, "ns", []*input.Pod{pod}, input.LogTarget{Pod: "train-a"}, unreachable)
		assert.Equalf(t, (gap != nil), isGap, "%s: %v", annotation, gap)
	}
}
