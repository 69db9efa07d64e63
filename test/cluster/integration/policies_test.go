package integration

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// admission is a copy of policies that is in force in some namespaces only: in its own, and in others.
type admission struct {
	t         *testing.T
	namespace string
	others    []any
	client    kubernetes.Interface
	warnings  *warnings
	policies  []string
}

// warnings collects the warnings of the API server.
type warnings struct{ texts []string }

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.texts = append(w.texts, text)
}

// until polls, because no watch shows when a policy takes effect.
func (a *admission) until(what string, reached func() bool) {
	a.t.Helper()
	condition := func(context.Context) (bool, error) { return reached(), nil }
	if err := wait.PollUntilContextTimeout(a.t.Context(), 20*time.Millisecond, patience, true, condition); err != nil {
		a.t.Fatalf("waited %v in vain until %s: %v", patience, what, err)
	}
}

// resourcesOf returns the resources of a folder's kustomization.yaml.
func resourcesOf(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	assert.NoError(t, err)
	var kustomization struct {
		metav1.TypeMeta `json:",inline"`
		Resources       []string `json:"resources"`
	}
	assert.NoError(t, yaml.UnmarshalStrict(text, &kustomization), "kustomization.yaml")
	return kustomization.Resources
}

// apply creates the policies and bindings of a file, with unique names. An unknown field is an error.
func (a *admission) apply(file string) {
	a.t.Helper()
	text, err := os.ReadFile(file)
	assert.NoError(a.t, err)
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = a.create(document)
		}
		assert.NoError(a.t, err, file)
	}
}

func (a *admission) create(document []byte) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &object.Object); err != nil {
		return err
	}
	object.SetName(a.own(object.GetName()))
	if policy, isBinding, _ := unstructured.NestedString(object.Object, "spec", "policyName"); isBinding {
		spec := object.Object["spec"].(map[string]any)
		spec["policyName"], spec["matchResources"] = a.own(policy), map[string]any{"namespaceSelector": map[string]any{"matchExpressions": []any{
			map[string]any{"key": corev1.LabelMetadataName, "operator": "In", "values": append([]any{a.namespace}, a.others...)},
		}}}
	} else {
		a.policies = append(a.policies, object.GetName())
	}
	client, err := dynamic.NewForConfig(apiServer.Config)
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	_, err = client.Resource(resource).Create(a.t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	a.cleanUp(object.GetName(), func(ctx context.Context, name string, options metav1.DeleteOptions) error {
		return client.Resource(resource).Delete(ctx, name, options)
	})
	return err
}

func (a *admission) own(name string) string { return name + "." + a.namespace }

func (a *admission) cleanUp(name string, remove func(context.Context, string, metav1.DeleteOptions) error) {
	a.t.Cleanup(func() {
		if err := remove(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			a.t.Errorf("deleting %s: %v", name, err)
		}
	})
}
