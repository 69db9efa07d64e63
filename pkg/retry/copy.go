package retry

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Dropped is something in the original Job that its copy does not have.
type Dropped struct {
	Kind DroppedKind
	// Name is the name of the label, annotation or owner ("JobSet/train"), or the number of a rule.
	Name string
}

// DroppedKind is the kind of a Dropped.
type DroppedKind string

// The kinds of dropped things.
const (
	Owner         DroppedKind = "Owner"         // an owner, whose controller would treat the copy as its own Job
	Tool          DroppedKind = "Tool"          // a label or annotation by which a deployment tool identifies its objects
	Selector      DroppedKind = "Selector"      // a manual selector, which would claim the pods of both Jobs
	SuccessPolicy DroppedKind = "SuccessPolicy" // a success policy that would end the copy before it runs
)

// generated are the labels that the API server sets, and the label by which Kueue binds the Job to its Workload.
var generated = []string{
	"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
	"kueue.x-k8s.io/prebuilt-workload-name",
}

// workloadAnnotation holds the Workload with which Kueue started the Job. With it, Kueue would not start the copy.
const workloadAnnotation = "kueue.x-k8s.io/workload"

// bookkeeping are the annotations about the Job itself, not its pods.
var bookkeeping = []string{
	"kubectl.kubernetes.io/last-applied-configuration", "batch.kubernetes.io/job-tracking",
	"batch.kubernetes.io/cronjob-scheduled-timestamp", "cronjob.kubernetes.io/instantiate",
	"kueue.x-k8s.io/prebuilt-workload-name", OfLabel, UIDAnnotation, AttemptAnnotation, IndexesAnnotation, CompletionsAnnotation,
	LeftOutAnnotation, PendingAnnotation, RequestAnnotation, RaiseAnnotation,
}

// toolPrefixes are prefixes of the labels and annotations of deployment tools: such a tool would delete the copy, which
// is not in its sources, or report a difference.
var toolPrefixes = []string{
	"app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "argocd.argoproj.io/", "helm.sh/", "meta.helm.sh/",
	"kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "fleet.cattle.io/", "objectset.rio.cattle.io/",
	"applyset.kubernetes.io/", "kapp.k14s.io/", "config.k8s.io/owning-inventory",
}

// Copy returns a new Job with the labels, annotations and spec of object, without what belongs to the object itself, and what
func Copy(object *unstructured.Unstructured, name string) (*unstructured.Unstructured, []Dropped) {
	old := object.DeepCopy()
	made := &unstructured.Unstructured{Object: map[string]any{"spec": old.Object["spec"]}}
	made.SetAPIVersion("batch/v1")
	made.SetKind("Job")
	made.SetName(name)
	made.SetNamespace(old.GetNamespace())
	var dropped []Dropped
	for _, owner := range old.GetOwnerReferences() {
		if owner.Kind != "CronJob" { // Users often copy the Jobs of a CronJob.
			dropped = append(dropped, Dropped{Owner, owner.Kind + "/" + owner.Name})
		}
	}
	labels, lost := withoutTools(old.GetLabels(), generated)
	dropped = append(dropped, lost...)
	made.SetLabels(labels)
	annotations, lost := withoutTools(old.GetAnnotations(), bookkeeping)
	dropped = append(dropped, lost...)
	made.SetAnnotations(annotations)
	if manual, _, _ := unstructured.NestedBool(made.Object, "spec", "manualSelector"); manual {
		dropped = append(dropped, Dropped{Kind: Selector})
	}
	// Fields of the spec that the API server sets for each Job.
	for _, field := range []string{"selector", "manualSelector", "suspend"} {
		unstructured.RemoveNestedField(made.Object, "spec", field)
	}
	template := []string{"spec", "template", "metadata"}
	for _, label := range generated {
		unstructured.RemoveNestedField(made.Object, append(slices.Clone(template), "labels", label)...)
	}
	unstructured.RemoveNestedField(made.Object, append(slices.Clone(template), "annotations", workloadAnnotation)...)
	unstructured.RemoveNestedField(made.Object, append(template, "creationTimestamp")...)
	return made, dropped
}

// withoutTools removes from labels or annotations the given names, and the entries of deployment tools, which it also
// returns.
func withoutTools(all map[string]string, own []string) (rest map[string]string, dropped []Dropped) {
	rest = maps.Clone(all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		isTool := slices.ContainsFunc(toolPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if isTool {
			dropped = append(dropped, Dropped{Tool, name})
		}
		if isTool || slices.Contains(own, name) {
			delete(rest, name)
		}
	}
	return rest, dropped
}
