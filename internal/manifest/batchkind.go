package manifest

import (
	"fmt"
	"maps"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// BatchKind returns the kind Job, CronJob or JobSet that the object is meant to have, "" for other objects. The group batch has
// no other kinds.
func BatchKind(object *Object) string {
	written := strings.ToLower(object.Kind())
	nearest, least := "", math.MaxInt
	for _, kind := range [...]string{"Job", "CronJob", "JobSet"} {
		lower := strings.ToLower(kind)
		if written == lower || written == lower+"s" {
			return kind
		}
		if d := typo.Distance(written, lower); d < least && kind != "JobSet" {
			nearest, least = kind, d
		}
	}
	switch group, _, _ := strings.Cut(object.APIVersion(), "/"); {
	case strings.EqualFold(group, batchv1.GroupName) && strings.HasPrefix(written, "scheduled"):
		return "CronJob" // the first name of CronJobs
	case strings.EqualFold(group, batchv1.GroupName):
		return nearest
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
	case strings.EqualFold(group, batchv1.GroupName), kind != "JobSet" && (group == "apps" || group == "extensions"):
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

// WhyNoJob explains why an object that satisfies IsBatch contains no Job: the field, the problem and its fix; "" if it may.
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
	case kind == "JobSet" && fieldsOf(object.Content["spec"])["replicatedJobs"] != nil:
		return "spec.replicatedJobs", "spec.replicatedJobs has no templates", "write a list with the templates of the Jobs"
	case kind == "JobSet":
		return "", "", ""
	}
	return "spec.jobTemplate", "a CronJob needs spec.jobTemplate", "add it, with the spec of the Jobs"
}
