package manifest

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// JobSetGroup and JobSetVersion are the API group and version of JobSets (https://jobset.sigs.k8s.io).
const (
	JobSetGroup   = "jobset.x-k8s.io"
	JobSetVersion = JobSetGroup + "/v1alpha2"
	// jobSetV1 has the same fields, as far as this package reads them.
	jobSetV1 = JobSetGroup + "/v1"
)

// Job is a Job, or a template of Jobs, in an object. It has the fields metadata and spec.
type Job struct {
	// Content is a part of the object's content: changes to it change the object.
	Content map[string]any
	// Path is its path in the object: "" for a Job, "spec.jobTemplate" for a CronJob,
	// "spec.replicatedJobs[0].template" for a JobSet.
	Path string

	Object     *Object
	replicated map[string]any // the item of a JobSet's replicatedJobs
}

// Jobs returns the Job of a Job or a CronJob, and the Jobs of a JobSet. It returns nil for any other kind or API version, and
// for a CronJob without a template.
func (o *Object) Jobs() []*Job {
	switch o.APIVersion() + " " + o.Kind() {
	case batchv1.SchemeGroupVersion.String() + " Job":
		return []*Job{{Content: o.Content, Object: o}}
	case batchv1.SchemeGroupVersion.String() + " CronJob":
		if template := fieldsOf(fieldsOf(o.Content["spec"])["jobTemplate"]); template != nil {
			return []*Job{{Content: template, Path: "spec.jobTemplate", Object: o}}
		}
	case JobSetVersion + " JobSet", jobSetV1 + " JobSet":
		return o.replicatedJobs()
	}
	return nil
}

func (o *Object) replicatedJobs() []*Job {
	var jobs []*Job
	list, _ := fieldsOf(o.Content["spec"])["replicatedJobs"].([]any)
	for i := range list {
		replicated, isObject := list[i].(map[string]any)
		if !isObject {
			replicated = map[string]any{}
		}
		template, isObject := replicated["template"].(map[string]any)
		if !isObject {
			template = map[string]any{}
		}
		path := fmt.Sprintf("spec.replicatedJobs[%d].template", i)
		jobs = append(jobs, &Job{Content: template, Path: path, Object: o, replicated: replicated})
	}
	return jobs
}

// At returns the path in the object of the field at path in the Job.
func (j *Job) At(path string) string {
	if j.Path == "" || path == "" {
		return j.Path + path
	}
	return j.Path + "." + path
}

// Name returns the name of the Job: of the object itself for a Job or a CronJob, or of the first Job of the template for a
// JobSet. It is "" if the object has no name.
func (j *Job) Name() string { return j.name(0) }

// LastName returns the name of the last Job of the template, which is the longest one.
func (j *Job) LastName() string { return j.name(j.replicas() - 1) }

// Creates reports whether the template creates a Job with this name.
func (j *Job) Creates(name string) bool {
	if j.replicated == nil {
		return name == j.Name()
	}
	index, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return err == nil && index >= 0 && index < j.replicas() && name == j.name(index)
}

func (j *Job) name(index int64) string {
	name := j.Object.Name()
	if generated := textOf(j.Object.metadata()["generateName"]); name == "" && generated != "" {
		name = generated + "xxxxx" // the API server adds as many characters
	}
	if j.replicated == nil || name == "" {
		return name
	}
	return fmt.Sprintf("%s-%s-%d", name, textOf(j.replicated["name"]), index)
}

func (j *Job) replicas() int64 {
	if replicas, given := j.replicated["replicas"].(int64); given {
		return max(replicas, 1)
	}
	return 1
}

// AsJob returns the Job with this name that the template creates.
func (j *Job) AsJob(name string) map[string]any {
	job := runtime.DeepCopyJSON(j.Content)
	job["apiVersion"], job["kind"] = batchv1.SchemeGroupVersion.String(), "Job"
	if metadata, ok := objectIn(job, "metadata"); ok {
		delete(metadata, "generateName")
		metadata["name"] = name
		if namespace := j.Object.Namespace(); namespace != "" {
			metadata["namespace"] = namespace
		}
	}
	// The defaults that JobSet's webhook sets in templates.
	spec, ok := objectIn(job, "spec")
	if !ok || j.replicated == nil {
		return job
	}
	if spec["completionMode"] == nil {
		spec["completionMode"] = string(batchv1.IndexedCompletion)
	}
	if template, ok := objectIn(spec, "template"); ok {
		if pod, ok := objectIn(template, "spec"); ok && (pod["restartPolicy"] == nil || pod["restartPolicy"] == "") {
			pod["restartPolicy"] = string(corev1.RestartPolicyOnFailure)
		}
	}
	return job
}

// ClaimedVolumes returns the names of the volumes in spec.volumeClaimPolicies, which JobSet adds to the pods of all its Jobs.
// It returns nil for other kinds.
func (o *Object) ClaimedVolumes() []string {
	var names []string
	policies, _ := fieldsOf(o.Content["spec"])["volumeClaimPolicies"].([]any)
	for _, policy := range policies {
		templates, _ := fieldsOf(policy)["templates"].([]any)
		for _, template := range templates {
			names = append(names, textOf(fieldsOf(fieldsOf(template)["metadata"])["name"]))
		}
	}
	return names
}
