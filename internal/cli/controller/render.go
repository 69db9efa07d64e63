package controller

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/config"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

const (
	kustomizationFile = "kustomization.yaml"
	// printedFolder is the folder, beside the embedded ones, of the kustomization that is built.
	printedFolder = "printed"
	// controllerName is the name of the Deployment, the service account, its role and its role binding.
	controllerName = "batchjob-controller"
	// electionRole is the Role for Leases.
	electionRole = "batchjob-leader-election"
)

// manifests describes the output: parts of config, and the changes to them.
type manifests struct {
	parts      []string
	managedBy  string
	image      string   // "" for the image in the files
	arguments  []string // added to the arguments in the files; they replace arguments for the same flag
	namespaces []string // empty for all
	shards     int      // 1 for a single active replica
}

// givesJobs reports whether the parts include the policy that assigns Jobs to the controller.
func givesJobs(parts []string) bool {
	return slices.Contains(parts, "admission") || slices.Contains(parts, "admission/managed-by")
}

// roles returns the namespaces that get a Role instead of the ClusterRole.
func (m manifests) roles() []string {
	if slices.Contains(m.parts, controllerPart) {
		return m.namespaces
	}
	return nil
}

// render returns a stream of YAML documents, in the order in which they can be applied. kubectl kustomize prints the
// same for these files.
func (m manifests) render() ([]byte, error) {
	files, err := m.files()
	if err != nil {
		return nil, fmt.Errorf("reading the manifests: %w", err)
	}
	kustomization, err := m.kustomization()
	if err != nil {
		return nil, fmt.Errorf("reading the manifests: %w", err)
	}
	if err := addManifest(files, kustomizationFile, kustomization); err != nil {
		return nil, err
	}
	for _, namespace := range m.roles() {
		role, binding := namespacedRole(namespace)
		if err := addManifest(files, roleFile(namespace), role); err != nil {
			return nil, err
		}
		if err := addManifest(files, bindingFile(namespace), binding); err != nil {
			return nil, err
		}
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // as in kubectl: dependencies come first
	resources, err := krusty.MakeKustomizer(options).Run(files, printedFolder)
	if err != nil {
		return nil, fmt.Errorf("putting the manifests together: %w", err)
	}
	return resources.AsYaml()
}

func roleFile(namespace string) string    { return "role-" + namespace + ".yaml" }
func bindingFile(namespace string) string { return "rolebinding-" + namespace + ".yaml" }

// files returns the files of config, with managedBy in the policy that sets spec.managedBy.
func (m manifests) files() (filesys.FileSystem, error) {
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(config.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(config.Files(), name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "admission/") {
			data = []byte(strings.ReplaceAll(string(data), `"`+controller.DefaultManagedBy+`"`, `"`+strings.ReplaceAll(m.managedBy, "'", "''")+`"`))
		}
		return files.WriteFile(name, data)
	})
	return files, err
}

func (m manifests) kustomization() (types.Kustomization, error) {
	k := types.Kustomization{TypeMeta: types.TypeMeta{Kind: types.KustomizationKind, APIVersion: types.KustomizationVersion}}
	for _, part := range m.parts {
		k.Resources = append(k.Resources, path.Join("..", part))
	}
	var changes []map[string]any
	if len(m.arguments) > 0 {
		arguments, err := deploymentArguments()
		if err != nil {
			return k, err
		}
		changes = append(changes, replaceInContainer("args", mergeArguments(arguments, m.arguments)))
	}
	if m.image != "" {
		changes = append(changes, replaceInContainer("image", m.image))
	}
	if len(changes) > 0 {
		patch, err := json.Marshal(changes)
		if err != nil {
			return k, err
		}
		k.Patches = append(k.Patches, types.Patch{Patch: string(patch), Target: &types.Selector{
			ResId: resid.ResId{Gvk: resid.Gvk{Kind: "Deployment"}, Name: controllerName},
		}})
	}
	if slices.Contains(m.parts, controllerPart) && m.shards > 1 {
		patches, err := forShards(m.shards)
		if err != nil {
			return k, err
		}
		k.Patches = append(k.Patches, patches...)
	}
	err := m.limitToNamespaces(&k)
	return k, err
}

// limitToNamespaces replaces the ClusterRole by a Role in each namespace, and limits the policy to the namespaces.
func (m manifests) limitToNamespaces(k *types.Kustomization) error {
	if len(m.namespaces) > 0 && givesJobs(m.parts) {
		patch, err := onlyInNamespaces(m.namespaces)
		if err != nil {
			return err
		}
		k.Patches = append(k.Patches, patch)
	}
	for _, namespace := range m.roles() {
		k.Resources = append(k.Resources, roleFile(namespace), bindingFile(namespace))
	}
	if len(m.roles()) > 0 {
		for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
			k.Patches = append(k.Patches, types.Patch{Patch: fmt.Sprintf(
				"$patch: delete\napiVersion: %s\nkind: %s\nmetadata: {name: %s}\n", rbacv1.SchemeGroupVersion, kind, controllerName)})
		}
	}
	return nil
}

// shardReplicas is the maximum number of replicas that share the shards.
const shardReplicas = 3

// forShards adds replicas, and lets them list each other's Leases.
func forShards(shards int) (patches []types.Patch, err error) {
	for _, change := range []struct {
		kind, name, path string
		value            any
	}{
		{"Deployment", controllerName, "/spec/replicas", min(shards, shardReplicas)},
		{"Role", electionRole, "/rules/0/verbs", shardPermission.verbs},
	} {
		patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": change.path, "value": change.value}})
		if err != nil {
			return nil, err
		}
		patches = append(patches, types.Patch{Patch: string(patch), Target: &types.Selector{
			ResId: resid.ResId{Gvk: resid.Gvk{Kind: change.kind}, Name: change.name},
		}})
	}
	return patches, nil
}

// onlyInNamespaces limits the policy to the namespaces that the controller watches: in others, a label would assign
// Jobs to it that never start.
func onlyInNamespaces(namespaces []string) (types.Patch, error) {
	selector := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: namespaces},
	}}
	patch, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/spec/matchResources", "value": map[string]any{"namespaceSelector": selector}},
	})
	return types.Patch{Patch: string(patch), Target: &types.Selector{
		ResId: resid.ResId{Gvk: resid.Gvk{Kind: "MutatingAdmissionPolicyBinding"}},
	}}, err
}

func replaceInContainer(field string, value any) map[string]any {
	return map[string]any{"op": "replace", "path": "/spec/template/spec/containers/0/" + field, "value": value}
}

// deploymentArguments returns the controller's arguments in the files.
func deploymentArguments() ([]string, error) {
	data, err := fs.ReadFile(config.Files(), "manager/deployment.yaml")
	if err != nil {
		return nil, err
	}
	var deployment appsv1.Deployment
	if err := yaml.Unmarshal(data, &deployment); err != nil {
		return nil, err
	}
	return deployment.Spec.Template.Spec.Containers[0].Args, nil
}

// mergeArguments appends more to arguments, replacing arguments for the same flag in place.
func mergeArguments(arguments, more []string) []string {
	var merged []string
	flagOf := func(argument string) string {
		name, _, _ := strings.Cut(argument, "=")
		return name
	}
	given := map[string]string{}
	for _, argument := range more {
		given[flagOf(argument)] = argument
	}
	for _, argument := range arguments {
		if other, ok := given[flagOf(argument)]; ok {
			argument = other
			delete(given, flagOf(other))
		}
		merged = append(merged, argument)
	}
	for _, argument := range more {
		if _, ok := given[flagOf(argument)]; ok {
			merged = append(merged, argument)
		}
	}
	return merged
}

// namespacedRole returns the Role and RoleBinding for a controller that watches one namespace.
func namespacedRole(namespace string) (rbacv1.Role, rbacv1.RoleBinding) {
	meta := metav1.ObjectMeta{Name: controllerName, Namespace: namespace, Labels: map[string]string{
		"app.kubernetes.io/name": "kubectl-batchjob", "app.kubernetes.io/component": "controller",
	}}
	role := rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: meta,
	}
	for _, p := range controllerPermissions {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{p.group}, Resources: []string{p.resource}, Verbs: p.verbs})
	}
	return role, rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: controllerName},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: controllerName, Namespace: systemNamespace}},
	}
}

// addManifest writes an object into printedFolder.
func addManifest(files filesys.FileSystem, name string, object any) error {
	data, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	return files.WriteFile(path.Join(printedFolder, name), data)
}
