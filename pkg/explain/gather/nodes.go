package gather

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// nodesOfGonePods returns nodes of deleted pods, if the status counts more failures than there are failed pods.
func nodesOfGonePods(f *explain.Input) []string {
	exist, failed := map[string]bool{}, int32(0)
	for _, p := range f.Pods {
		exist[p.Name] = true
		if p.Phase == corev1.PodFailed {
			failed++
		}
	}
	var names []string
	for i := range f.Events {
		e := &f.Events[i]
		node := eventtext.AssignedNode(e)
		if node != "" && !exist[e.Pod] && !slices.Contains(names, node) && len(names) < maxNodes && f.Job.Status.Failed > failed {
			names = append(names, node)
		}
	}
	return names
}

// removedNodes records which of the nodes no longer exist. An error is not a Gap: few users may read nodes, and few
// explanations need them.
func (r *reading) removedNodes(ctx context.Context, names []string) {
	for _, name := range names {
		_, err := r.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case kube.IsNotFound(err):
			if r.facts.GoneNodes == nil {
				r.facts.GoneNodes = map[string]string{}
			}
			r.facts.GoneNodes[name] = explain.NodeRemoved
		case err != nil:
			return
		}
	}
}
