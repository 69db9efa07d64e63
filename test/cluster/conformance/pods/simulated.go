package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Simulated is the kubelet of a node without containers: it writes the status of pods as a kubelet does. The node has a
// Lease, so that the cluster considers it alive and kwok does not run its pods: kwok leaves nodes alone whose Lease has
// another holder. With --manage-all-nodes, kwok 0.8.0 runs them anyway in about one of eight starts.
type Simulated struct {
	// Late is the time from the end of a container until the pod's status shows it, 0 by default. On slow nodes, it is longer
	// than a back-off.
	Late time.Duration

	client kubernetes.Interface
	node   string
	stop   func()
	done   sync.WaitGroup
}

const (
	leaseNamespace = "kube-node-lease"
	leaseSeconds   = 40
	renewEvery     = 10 * time.Second
	cleanUpTime    = 10 * time.Second
)

// NewSimulated adds a node with this name to the cluster.
func NewSimulated(ctx context.Context, client kubernetes.Interface, node string) (*Simulated, error) {
	s := &Simulated{client: client, node: node, stop: func() {}}
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To(manager), LeaseDurationSeconds: ptr.To(int32(leaseSeconds)), AcquireTime: &now, RenewTime: &now,
	}}
	// The Lease comes first, as kwok looks for it when it sees the node.
	if _, err := client.CoordinationV1().Leases(leaseNamespace).Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("creating the lease of node %s: %w", node, err)
	}
	if err := s.addNode(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.done.Go(func() { s.renew(ctx) })
	return s, nil
}

func (s *Simulated) addNode(ctx context.Context) error {
	capacity := corev1.ResourceList{"cpu": resource.MustParse("1k"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("10k")}
	_, err := s.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: s.node},
		// Keep other pods away: the suite's pods name their node.
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: manager, Effect: corev1.TaintEffectNoSchedule}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating node %s: %w", s.node, err)
	}
	now := metav1.Now()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"capacity": capacity, "allocatable": capacity,
		"conditions": []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now,
		}},
	}})
	if err != nil {
		return err
	}
	// A patch, as other clients change new nodes as well.
	if _, err := s.client.CoreV1().Nodes().PatchStatus(ctx, s.node, patch); err != nil {
		return fmt.Errorf("writing the status of node %s: %w", s.node, err)
	}
	return nil
}

// renew keeps the node alive. A failed renewal is retried in time.
func (s *Simulated) renew(ctx context.Context) {
	leases := s.client.CoordinationV1().Leases(leaseNamespace)
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		lease, err := leases.Get(ctx, s.node, metav1.GetOptions{})
		if err != nil {
			continue
		}
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		_, _ = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
}

// Prepare implements Kubelet.
func (s *Simulated) Prepare(template *corev1.PodTemplateSpec) {
	template.Spec.NodeName = s.node
	template.Spec.Containers[0].Image = "none.invalid/conformance"
}

// Start implements Kubelet.
func (s *Simulated) Start(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.Now()
	err := patchStatus(ctx, s.client, pod, map[string]any{
		"phase": corev1.PodRunning, "startTime": now, "conditions": ready(corev1.ConditionTrue, now),
		"containerStatuses": []corev1.ContainerStatus{{
			Name: Container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	})
	if apierrors.IsInvalid(err) {
		return fmt.Errorf("something else runs the pods of node %s, such as kwok with --manage-all-nodes: %w", s.node, err)
	}
	return err
}

// End implements Kubelet.
func (s *Simulated) End(ctx context.Context, pod *corev1.Pod, code int32) error {
	ended, phase := metav1.NewTime(time.Now().Add(-s.Late)), corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	return patchStatus(ctx, s.client, pod, map[string]any{
		"phase": phase, "conditions": ready(corev1.ConditionFalse, ended),
		"containerStatuses": []corev1.ContainerStatus{{
			Name: Container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: ended}},
		}},
	})
}

func ready(status corev1.ConditionStatus, now metav1.Time) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: now}}
}

// Stopped implements Kubelet. The API server removes the pod when it has no finalizers.
func (s *Simulated) Stopped(ctx context.Context, pod *corev1.Pod) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	return ignoreNotFound(err)
}

// Close implements Kubelet.
func (s *Simulated) Close() error {
	s.stop()
	s.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTime)
	defer cancel()
	return errors.Join(
		ignoreNotFound(s.client.CoreV1().Nodes().Delete(ctx, s.node, metav1.DeleteOptions{})),
		ignoreNotFound(s.client.CoordinationV1().Leases(leaseNamespace).Delete(ctx, s.node, metav1.DeleteOptions{})),
	)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
