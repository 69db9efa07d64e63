package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/play"
)

// patience is the time limit for the cluster's readiness and for each case.
const patience = 4 * time.Minute

// worker is the node of the played pods. kwok does not manage it.
const worker = "worker-1"

// definitions makes the API server serve the Workloads of Kueue and JobSets, which no controller runs, and has a policy for the
// step refuse.
//
//go:embed definitions.yaml
var definitions string

// cluster is a control plane for this run, with the built-in controller and ours.
type cluster struct {
	*leash.Cluster
	binary     string
	client     kubernetes.Interface
	objects    *play.Objects
	hooks      *play.Hooks
	kubelet    *play.Kubelet
	controller *leash.Controller
	stopLease  context.CancelFunc
}

func startCluster(ctx context.Context, root, binary string) (*cluster, error) {
	held, err := leash.NewCluster(root, "field")
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: held, binary: binary, hooks: play.NewHooks(), kubelet: play.NewKubelet()}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// prepare starts the cluster and makes it ready for the cases.
func (c *cluster) prepare(ctx context.Context) error {
	if err := c.Up(ctx); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst, config.UserAgent = -1, 0, "field"
	config.WarningHandler = rest.NoWarnings{} // Some cases make the API server send warnings on purpose.
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	c.objects = &play.Objects{Client: objects, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))}
	if err := c.addDefinitions(ctx); err != nil {
		return err
	}
	if err := c.addWorker(ctx); err != nil {
		return err
	}
	if err := c.exemptPlayed(ctx, objects); err != nil {
		return err
	}
	const leaseNamespace = "batchjob-system"
	if _, err := tenant.Namespace(ctx, c.client, metav1.ObjectMeta{Name: leaseNamespace}); err != nil {
		return err
	}
	c.controller, err = leash.StartController(ctx, c.binary, c.Kubeconfig, nil, "--leader-elect", "--leader-elect-resource-namespace", leaseNamespace)
	return err
}

// stop ends everything that this run has started.
func (c *cluster) stop() error {
	if c.controller != nil {
		c.controller.Kill()
	}
	if c.stopLease != nil {
		c.stopLease()
	}
	c.hooks.Close()
	c.kubelet.Close()
	return c.Release()
}

// addDefinitions creates the definitions, and returns once their resources are served and can be discovered.
func (c *cluster) addDefinitions(ctx context.Context) error {
	if err := c.objects.Create(ctx, "", definitions, ""); err != nil {
		return err
	}
	err := poll(ctx, func(ctx context.Context) bool {
		_, err := c.objects.List(ctx, metav1.NamespaceDefault)
		return err == nil
	})
	c.objects.Mapper.Reset()
	return err
}

func poll(ctx context.Context, holds func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return holds(ctx), nil })
}

// addWorker adds the node with the kubelet that serves logs, and renews its Lease, as a kubelet would.
func (c *cluster) addWorker(ctx context.Context) error {
	room := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110")}
	now := metav1.Now()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: worker, Labels: map[string]string{
			corev1.LabelHostname: worker, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}}},
	}
	c.kubelet.Endpoint(&node.Status)
	if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	leases := c.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: worker},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(worker), LeaseDurationSeconds: ptr.To[int32](40), RenewTime: ptr.To(metav1.NowMicro())},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	renewing, stop := context.WithCancel(context.Background())
	c.stopLease = stop
	go wait.UntilWithContext(renewing, func(ctx context.Context) {
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		if updated, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err == nil {
			lease = updated
		} else if ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "field: renewing the Lease of the node:", err)
		}
	}, 10*time.Second)
	return nil
}

// exemptPlayed keeps the cluster's policy from assigning nodes to played pods, and returns once the API server applies
// the change.
func (c *cluster) exemptPlayed(ctx context.Context, objects dynamic.Interface) error {
	const patch = `{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[{"key":"` + play.PlayedLabel + `","operator":"DoesNotExist"}]}}}}`
	bindings := objects.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"})
	if _, err := bindings.Patch(ctx, "assign-node", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return err
	}
	const probe = "field-probe"
	if _, err := tenant.Namespace(ctx, c.client, metav1.ObjectMeta{Name: probe, Labels: map[string]string{play.PlayedLabel: "true"}}); err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) bool {
		pod, err := c.client.CoreV1().Pods(probe).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && pod.Spec.NodeName == ""
	})
}
