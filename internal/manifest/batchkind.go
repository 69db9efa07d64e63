package manifest

import (
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// BatchKind returns the kind Job, CronJob or JobSet that the object is meant to have, "" for other objects.
func BatchKind(object *Object) string {
	for _, kind := range [...]string{"Job", "CronJob", "JobSet"} {
		if strings.EqualFold(object.Kind(), kind) {
			return kind
		}
	}
	return ""
}

// servedVersion returns the API version of a kind that BatchKind returned: that of the object, if it is one of JobSet's.
func servedVersion(object *Object, kind string) string {
	switch {
	case kind != "JobSet":
		return batchv1.SchemeGroupVersion.String()
	case object.APIVersion() == jobSetV1:
		return jobSetV1
	}
	return JobSetVersion
}

// IsBatch reports whether the object is a Job, CronJob or JobSet, or is meant to be one: its API version may be gone
// or wrong, its group may be another one of Kubernetes, and its kind may be in lower case.
func IsBatch(object *Object) bool {
	kind := BatchKind(object)
	group, _, found := strings.Cut(object.APIVersion(), "/")
	switch {
	case kind == "":
		return false
	case kind != "JobSet" && (group == "apps" || group == "extensions"):
		return true
	}
	served, _, _ := strings.Cut(servedVersion(object, kind), "/")
	return strings.EqualFold(group, served) || !found && group == "v1"
}

// AsServed returns the object with the API version and kind that it is meant to have, and whether it had others. Both
// objects share all other fields.
func AsServed(object *Object) (*Object, bool) {
	kind := BatchKind(object)
	version := servedVersion(object, kind)
	served := *object
	served.Content = maps.Clone(object.Content)
	served.Content["apiVersion"], served.Content["kind"] = version, kind
	return &served, object.Kind() != kind || object.APIVersion() != version
}

// WhyNoJob explains why an object that satisfies IsBatch contains no Job: the field, the problem and its fix.
func WhyNoJob(object *Object) (path, problem, fix string) {
	version, kind := object.APIVersion(), BatchKind(object)
	wanted := servedVersion(object, kind)
	switch fix = "write apiVersion: " + wanted + ", kind: " + kind; {
	case object.Kind() != kind:
		return "kind", "there is no kind " + object.Kind() + " in " + wanted, fix
	case version == "batch/v1beta1" || version == "batch/v2alpha1":
		return "apiVersion", version + " is no longer served", fix
	case version != wanted:
		return "apiVersion", fmt.Sprintf("there is no %s in %s", kind, version), fix
	case kind == "JobSet":
		return "spec.replicatedJobs", "a JobSet needs spec.replicatedJobs", "add it, a list with the templates of the Jobs"
	}
	return "spec.jobTemplate", "a CronJob needs spec.jobTemplate", "add it, with the spec of the Jobs"
}
