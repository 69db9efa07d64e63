package rerun

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// nodesPage is the number of nodes per request.
const nodesPage = 500

// CheckRoom returns an error if the pods of the Job can never have their memory: because of a LimitRange, a ResourceQuota, or the
// size of the nodes. What may not be read is not checked.
func (c *Client) CheckRoom(ctx context.Context, object *unstructured.Unstructured) error {
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return err
	}
	spec, room := &job.Spec.Template.Spec, &retry.Room{}
	var limits corev1.LimitRangeList
	if c.read(ctx, "/api/v1/namespaces/"+c.jobs.Namespace+"/limitranges", &limits) == nil {
		room.LimitRanges = limits.Items
	}
	var quotas corev1.ResourceQuotaList
	if c.read(ctx, "/api/v1/namespaces/"+c.jobs.Namespace+"/resourcequotas", &quotas) == nil {
		room.Quotas = quotas.Items
	}
	room.Node = c.largestNode(ctx, spec)
	if refused := room.Check(spec); refused != nil {
		return explainNoRoom(refused)
	}
	return nil
}

// read reads a list as JSON: few resources have a typed client.
func (c *Client) read(ctx context.Context, path string, into any) error {
	data, err := c.kube.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// largestNode returns the node with the most memory that the pod may run on, nil if not all nodes could be read.
func (c *Client) largestNode(ctx context.Context, spec *corev1.PodSpec) (largest *corev1.Node) {
	for options := (metav1.ListOptions{Limit: nodesPage}); ; {
		page, err := c.kube.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return nil
		}
		for i := range page.Items {
			node := &page.Items[i]
			if !retry.Takes(node, spec) {
				continue
			}
			if most := retry.NodeMemory(node); largest == nil || most.Cmp(retry.NodeMemory(largest)) > 0 {
				largest = node
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return largest
		}
	}
}

// explainNoRoom explains that no pod can have so much memory, with what it can have.
func explainNoRoom(refused *retry.NoRoomError) error {
	most, hint := refused.Most.String(), "raise it less, such as with max=%s, or have the limit raised"
	var what string
	switch who := ownerText(refused.Container); refused.Kind {
	case retry.NoRoomInLimitRange:
		what = fmt.Sprintf("%s would get %s of memory, and LimitRange %s allows %s", who, refused.Wants.String(), refused.Name, most)
	case retry.NoRoomInQuota:
		what = fmt.Sprintf("%s would get %s of memory, and ResourceQuota %s has %s in all (%s)", who, refused.Wants.String(), refused.Name, most, refused.Resource)
	case retry.NoRoomOnNodes:
		what = fmt.Sprintf("%s would request %s of memory, and %s, the largest node for it, has %s", who, refused.Wants.String(), refused.Name, most)
		hint = "raise it less, such as with max=%s; if an autoscaler adds larger nodes, set it with --limits and --requests"
	}
	return cmdutil.NewUserError(cmdutil.KindOther, refused, what, fmt.Sprintf(hint, most))
}
