package play

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// Objects reads and writes objects of any kind.
type Objects struct {
	Client dynamic.Interface
	Mapper *restmapper.DeferredDiscoveryRESTMapper
}

// Create creates the objects of a manifest, in order. It sets managedBy in Jobs and in CronJobs' templates.
func (o *Objects) Create(ctx context.Context, namespace, manifest, managedBy string) error {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if object.Object == nil {
			continue
		}
		if err := own(object, managedBy); err != nil {
			return err
		}
		gvk := object.GroupVersionKind()
		mapping, err := o.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			return err
		}
		if _, err := o.in(mapping, namespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "kubectl-create"}); err != nil {
			return err
		}
	}
}

func own(object *unstructured.Unstructured, managedBy string) error {
	switch {
	case managedBy == "":
		return nil
	case object.GetKind() == "Job":
		return unstructured.SetNestedField(object.Object, managedBy, "spec", "managedBy")
	case object.GetKind() == "CronJob":
		return unstructured.SetNestedField(object.Object, managedBy, "spec", "jobTemplate", "spec", "managedBy")
	}
	return nil
}

func (o *Objects) in(mapping *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return o.Client.Resource(mapping.Resource).Namespace(namespace)
	}
	return o.Client.Resource(mapping.Resource)
}

// find returns a client for the resource KIND and the NAME in a reference KIND/NAME; the kind may be singular or plural.
func (o *Objects) find(namespace, reference string) (dynamic.ResourceInterface, string, error) {
	kind, name, ok := strings.Cut(reference, "/")
	if !ok {
		return nil, "", fmt.Errorf("%s is not KIND/NAME", reference)
	}
	gvk, err := o.Mapper.KindFor(schema.GroupVersionResource{Resource: kind})
	if err != nil {
		return nil, "", err
	}
	mapping, err := o.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, "", err
	}
	return o.in(mapping, namespace), name, nil
}

func (o *Objects) get(ctx context.Context, namespace, reference string) (*unstructured.Unstructured, error) {
	client, name, err := o.find(namespace, reference)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, name, metav1.GetOptions{})
}

func (o *Objects) delete(ctx context.Context, namespace, reference string, dependents metav1.DeletionPropagation) error {
	client, name, err := o.find(namespace, reference)
	if err != nil {
		return err
	}
	return client.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &dependents})
}

func (o *Objects) patch(ctx context.Context, namespace string, p Patch, expand func(string) string) error {
	client, name, err := o.find(namespace, p.Object)
	if err != nil {
		return err
	}
	data, err := json.Marshal(past(p.Merge, expand, time.Now()))
	if err != nil {
		return err
	}
	var subresources []string
	if p.Status {
		subresources = []string{"status"}
	}
	_, err = client.Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: cmp.Or(p.Manager, "kubectl-edit")}, subresources...)
	return err
}

// List returns all objects that an explanation of a namespace's Jobs may read: the namespace, owners before the objects that
// they create, then the nodes of the pods, including deleted pods.
func (o *Objects) List(ctx context.Context, namespace string) ([]unstructured.Unstructured, error) {
	own, err := o.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	all := []unstructured.Unstructured{*own}
	for _, resource := range []schema.GroupVersionResource{
		{Group: "batch", Version: "v1", Resource: "cronjobs"}, {Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"},
		{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}, {Group: "batch", Version: "v1", Resource: "jobs"},
		{Version: "v1", Resource: "persistentvolumeclaims"}, {Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "events"},
	} {
		list, err := o.Client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	nodes, err := o.nodesOf(ctx, all)
	return append(all, nodes...), err
}

// nodesOf returns the nodes of pods, and the nodes named in events about pods, if they exist.
func (o *Objects) nodesOf(ctx context.Context, objects []unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	list, err := o.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(node unstructured.Unstructured) bool {
		return !slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool {
			name, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
			message, _, _ := unstructured.NestedString(object.Object, "message")
			return name == node.GetName() || strings.HasSuffix(message, " to "+node.GetName())
		})
	}), nil
}

// past expands the variables, and replaces durations such as -5m by times.
func past(value any, expand func(string) string, now time.Time) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			v[key] = past(field, expand, now)
		}
	case []any:
		for i, item := range v {
			v[i] = past(item, expand, now)
		}
	case string:
		if d, err := time.ParseDuration(v); err == nil && d < 0 {
			return now.Add(d).UTC().Format(time.RFC3339)
		}
		return expand(v)
	}
	return value
}
