package cmdutil

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// JobSetLabel is on every Job of a JobSet.
const JobSetLabel = "jobset.sigs.k8s.io/jobset-name"

// JobOwner is an object whose Jobs are meant.
type JobOwner struct{ Kind, Name string }

// OwnerKinds are the resources whose Jobs can be named by their owner, with its kind.
func OwnerKinds() map[string]string {
	return map[string]string{
		"cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob", "cronjob.batch": "CronJob", "cronjobs.batch": "CronJob",
		"jobset": "JobSet", "jobsets": "JobSet", "jobset.jobset.x-k8s.io": "JobSet", "jobsets.jobset.x-k8s.io": "JobSet",
	}
}

// ownerGroups are the API groups of the kinds.
func ownerGroups() map[string]string {
	return map[string]string{"CronJob": batchv1.GroupName, "JobSet": "jobset.x-k8s.io"}
}

// SplitOwnerArgs takes arguments such as cronjob/NAME out of args.
func SplitOwnerArgs(args []string) (owners []JobOwner, rest []string, err error) {
	kinds := OwnerKinds()
	for _, arg := range args {
		resource, name, _ := strings.Cut(arg, "/")
		kind := kinds[strings.ToLower(resource)]
		if kind == "" || !strings.Contains(arg, "/") {
			rest = append(rest, arg)
			continue
		}
		if problems := content.IsPathSegmentName(name); name == "" || len(problems) > 0 {
			return nil, nil, UsageErrorf("%q names no %s; use %s/NAME", arg, kind, resource)
		}
		if o := (JobOwner{kind, name}); !slices.Contains(owners, o) {
			owners = append(owners, o)
		}
	}
	return owners, rest, nil
}

// Owns reports whether the Job belongs to the owner: by its controller, or as a Job of a JobSet
// by its label.
func (o JobOwner) Owns(job *unstructured.Unstructured) bool {
	if c := metav1.GetControllerOf(job); c != nil && c.Kind == o.Kind && c.Name == o.Name {
		group, _, _ := strings.Cut(c.APIVersion, "/")
		return group == ownerGroups()[o.Kind]
	}
	return o.Kind == "JobSet" && job.GetLabels()[JobSetLabel] == o.Name
}
