package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

const (
	leaseNamespace = "batchjob-system"
	// playedLabel marks the namespaces whose pods get no node at admission, and never a node that kwok runs: the
	// recorder is their scheduler and their kubelet.
	playedLabel = "record.batchjob.dev/played"
)

// prepare makes the cluster ready for all scenarios.
func (c *cluster) prepare(ctx context.Context) error {
	_, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leaseNamespace}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := c.exemptPlayed(ctx); err != nil {
		return err
	}
	if err := c.addJobSets(ctx); err != nil {
		return err
	}
	_, err = c.launch(ctx)
	return err
}

// exemptPlayed keeps the cluster's policy from assigning nodes to pods that the recorder plays.
func (c *cluster) exemptPlayed(ctx context.Context) error {
	const patch = `{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[{"key":"` + playedLabel + `","operator":"DoesNotExist"}]}}}}`
	bindings := c.objects.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"})
	if _, err := bindings.Patch(ctx, "assign-node", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return err
	}
	const probe = "record-probe"
	if err := c.addNamespace(ctx, probe, true); err != nil {
		return err
	}
	// The API server applies the change after a delay.
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		pod, err := c.client.CoreV1().Pods(probe).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && pod.Spec.NodeName == "", err
	})
}

// addNode adds another node for kwok to run.
func (c *cluster) addNode(ctx context.Context, name string) error {
	room := corev1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	_, err := c.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": "kwok"},
		},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
	}, metav1.CreateOptions{})
	return err
}

var (
	customResources = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	jobSets         = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
)

// addJobSets makes the API server serve JobSets; no controller runs them.
func (c *cluster) addJobSets(ctx context.Context) error {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	_, err := c.objects.Resource(customResources).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name": "jobsets.jobset.x-k8s.io",
			// The API server requires it in groups of the Kubernetes community.
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for fixtures"},
		},
		"spec": map[string]any{
			"group": jobSets.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": "JobSet", "listKind": "JobSetList", "plural": "jobsets", "singular": "jobset"},
			"versions": []any{map[string]any{
				"name": jobSets.Version, "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": anything, "status": anything},
				}},
			}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := c.objects.Resource(jobSets).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

// addNamespace creates a namespace with the service account that pods need.
func (c *cluster) addNamespace(ctx context.Context, name string, played bool) error {
	meta := metav1.ObjectMeta{Name: name}
	if played {
		meta.Labels = map[string]string{playedLabel: "true"}
	}
	_, err := leash.Namespace(ctx, c.client, meta)
	return err
}
