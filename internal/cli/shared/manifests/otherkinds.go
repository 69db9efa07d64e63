package manifests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// maxNamed is the maximum number of skipped objects that are listed by name.
	maxNamed = 5
	// kustomizeGroup is the group of kustomization.yaml and its parts, which no API server has.
	kustomizeGroup = "kustomize.config.k8s.io/"
)

// OtherKinds is the treatment of objects whose kind is not one of the verb's own.
type OtherKinds int

// The treatments.
const (
	// SkipOthers omits them, and names them in one line.
	SkipOthers OtherKinds = iota
	// CreateOthers creates them, too.
	CreateOthers
	// PassOthers prints them unchanged.
	PassOthers
)

// Choose returns the objects to create, and prints one line about the others. own reports whether an object is of the
// verb's own kinds: if none is and others are skipped, all objects stay, so that Prepare returns the errors.
func (f *Flags) Choose(objects []*manifest.Object, own func(*manifest.Object) bool, pass bool) []*manifest.Object {
	switch {
	case pass:
		f.others = PassOthers
	case f.allKinds:
		f.others = CreateOthers
	}
	var chosen, skipped []*manifest.Object
	found := false
	for _, object := range objects {
		isOwn := own(object)
		found = found || isOwn
		if isOwn || f.others != SkipOthers && !strings.HasPrefix(object.APIVersion(), kustomizeGroup) {
			chosen = append(chosen, object)
		} else {
			skipped = append(skipped, object)
		}
	}
	// -n does not change objects that are only printed: only a cluster knows which of them are namespaced.
	given := f.kube.Overrides.Context.Namespace
	if f.others == PassOthers && given != "" {
		changes := func(object *manifest.Object) bool { return own(object) || object.Namespace() != "" }
		fixed := slices.DeleteFunc(slices.Clone(chosen), changes)
		if len(fixed) > 0 {
			fmt.Fprintf(f.warnings, "note: -n does not change objects of other kinds: %s; apply all with: kubectl apply -n %s -f -\n", listOf(fixed), given)
		}
	}
	if len(skipped) == 0 || !found && f.others == SkipOthers {
		return objects
	}
	f.noteSkipped(skipped)
	return chosen
}

// noteSkipped names the objects that are omitted, and the flag that includes them.
func (f *Flags) noteSkipped(skipped []*manifest.Object) {
	what, them := wording.Count(len(skipped), "objects of other kinds"), "them"
	if len(skipped) == 1 {
		what, them = "1 object of another kind", "it"
	}
	hint := "create " + them + " with --all-kinds"
	if f.others != SkipOthers {
		hint = "build " + them + " with -k"
	}
	fmt.Fprintf(f.warnings, "skipped %s: %s; %s\n", what, listOf(skipped), hint)
}

// listOf names objects as kind/name.
func listOf(objects []*manifest.Object) string {
	var names []string
	for _, object := range objects {
		name := object.Kind()
		if object.Name() != "" {
			name += "/" + object.Name()
		}
		names = append(names, sanitize.Line(name))
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// prepareOther checks an object without a Job. Objects of other kinds that are only printed stay unchanged.
func (f *Flags) prepareOther(object *manifest.Object) []error {
	if manifest.IsBatch(object) {
		path, problem, fix := manifest.WhyNoJob(object)
		if problem == "" {
			return nil
		}
		return []error{object.Errorf(path, "%s; %s", problem, fix)}
	}
	switch err := f.checkNamespace(object); {
	case f.others == CreateOthers && err != nil:
		return []error{err}
	case f.others != SkipOthers:
		return nil
	}
	return []error{object.Errorf("kind", "this command creates only Jobs, CronJobs and JobSets, not a %s of %s; use: kubectl create -f", object.Kind(), object.APIVersion())}
}

// resource is the API server's resource for a kind.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// resourceOf returns the resource of a kind. For kinds that are not batch or JobSet, it asks the API server, once for
// each.
func (c *Client) resourceOf(ctx context.Context, kind schema.GroupVersionKind) (resource, error) {
	if kind.Group == batchv1.GroupName || kind.Group == manifest.JobSetGroup {
		return resource{kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s"), true}, nil
	}
	if known, found := c.resources[kind]; found {
		return known, nil
	}
	path := "/apis/" + kind.GroupVersion().String()
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	text, err := c.kube.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return resource{}, err
	}
	list := metav1.APIResourceList{}
	if err == nil {
		if err := json.Unmarshal(text, &list); err != nil {
			return resource{}, fmt.Errorf("the kinds of %s: %w", kind.GroupVersion(), err)
		}
	}
	for _, found := range list.APIResources {
		if found.Kind == kind.Kind && !strings.Contains(found.Name, "/") {
			known := resource{kind.GroupVersion().WithResource(found.Name), found.Namespaced}
			c.resources[kind] = known
			return known, nil
		}
	}
	return resource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// Writer returns the client that writes objects of this kind and namespace.
func (c *Client) Writer(ctx context.Context, object *unstructured.Unstructured) (w jobwrite.Client, err error) {
	of, err := c.resourceOf(ctx, object.GroupVersionKind())
	if err != nil {
		return w, err
	}
	resources := c.client.Resource(of.GroupVersionResource)
	w = jobwrite.Client{Objects: resources, Call: apicall.Call{Group: of.Group, Resource: of.Resource}, Options: c.options}
	if of.namespaced {
		w.Call.Namespace = cmp.Or(object.GetNamespace(), c.namespace)
		w.Objects = resources.Namespace(w.Call.Namespace)
	}
	return w, nil
}

// Label names an object as kubectl does, such as configmap/settings or job.batch/train.
func Label(object *unstructured.Unstructured) string {
	kind, name := strings.ToLower(object.GetKind()), object.GetName()
	if group := object.GroupVersionKind().Group; group != "" {
		kind += "." + group
	}
	if name == "" {
		name = object.GetGenerateName() + "<generated>"
	}
	return kind + "/" + sanitize.Line(name)
}
