package gather

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// GoneNodes looks up the nodes of pods that should have ended, and returns the nodes that cannot end them, with the reasons.
// If it returns an error, the map holds the nodes found before the error.
func GoneNodes(ctx context.Context, client kube.Interface, pods []*input.Pod, now time.Time) (gone map[string]string, err error) {
	var names []string
	for _, p := range pods {
		late := p.IsTerminating() && now.After(p.DeletedAt.Add(p.Grace))
		if late && p.Node != "" && !slices.Contains(names, p.Node) && len(names) < maxNodes {
			names = append(names, p.Node)
		}
	}
	err = findGoneNodes(ctx, client, names, &gone, input.NodeTrouble)
	return gone, err
}

// findGoneNodes adds the nodes to gone that do not exist, and the nodes for which trouble returns a reason. gone stays nil if
// there are none.
func findGoneNodes(
	ctx context.Context, client kube.Interface, names []string, gone *map[string]string, trouble func(*corev1.Node) string,
) error {
	for _, name := range names {
		why := input.NodeRemoved
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			why = trouble(node)
		case !kube.IsNotFound(err):
			return err
		}
		if why == "" {
			continue
		}
		if *gone == nil {
			*gone = map[string]string{}
		}
		(*gone)[name] = why
	}
	return nil
}

// nodesOfGonePods returns nodes of deleted pods, if the status counts more failures than there are failed pods.
func nodesOfGonePods(f *input.Input) []string {
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
		node := meaning.AssignedNode(e.Reason, e.Message)
		if node != "" && !exist[e.Pod] && !slices.Contains(names, node) && len(names) < maxNodes && f.Job.Status.Failed > failed {
			names = append(names, node)
		}
	}
	return names
}
