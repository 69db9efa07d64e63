package lint

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// checkLogLost reports that the controller deletes the pod of a Job at its back-off limit, if the pod restarts its
// containers itself. In a JobSet, OnFailure is the default for templates without a restartPolicy, so it is not
// reported.
func checkLogLost(r *review) {
	if r.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && r.spec.PodFailurePolicy == nil && !r.inJobSet() {
		r.add(Info, "log-lost-at-limit", r.specPath("template", "spec", "restartPolicy"), "use restartPolicy: Never to keep failed pods and their logs",
			"with restartPolicy OnFailure, the pod is deleted when the Job reaches its backoffLimit, and its log with it")
	}
}

// rejectAll adds the problems, except those that another one causes.
func (r *review) rejectAll(problems apirules.Problems) {
	for _, p := range problems {
		if p.Fix != "" {
			r.reject(p.ID, p.Path, p.Fix, "%s", p.Message)
		}
	}
}

// stored returns the Job as the API server would store it, with its defaults.
func (r *review) stored() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: noName, UID: noUID}, Spec: *r.spec.DeepCopy()}
	if r.cronJob == nil { // it sets no defaults in a CronJob
		job.Name, job.UID = cmp.Or(r.meta.Name, job.Name), cmp.Or(r.meta.UID, job.UID)
		apirules.SetDefaults(job)
		apirules.GenerateSelector(job)
	}
	return job
}

// The name and the UID of a Job that has none yet: the values of labels, which a manifest cannot know.
const noName, noUID = "Name", "UID"

// checkAPIRules reports problems for which the API server rejects the object, or the Jobs of a CronJob.
func checkAPIRules(r *review) {
	r.rejectAll(apirules.CheckObject(r.content))
	job := r.stored()
	if r.cronJob == nil {
		r.rejectAll(apirules.NewJob(job, r.path))
		return
	}
	r.rejectAll(apirules.JobTemplate(&job.Spec, r.path))
	job.Spec.Selector = nil // it is rejected already
	r.addOfJobs(apirules.GeneratedFields(job, r.path))
}

// addOfJobs adds problems that the API server accepts until the CronJob creates a Job.
func (r *review) addOfJobs(problems apirules.Problems) {
	for _, p := range problems {
		r.add(Error, p.ID, p.Path, p.Fix, "%s: no Job of this CronJob can be created", p.Message)
	}
}

// checkTemplate reports problems for which the API server rejects the pod template in any object.
func checkTemplate(r *review) {
	spec, _ := r.job["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	r.rejectAll(apirules.Check(&r.spec.Template, template, r.specPath("template"), r.volumes))
}

// checkMetadata checks labels and annotations of the object, and of the Jobs of a CronJob.
func checkMetadata(r *review) {
	ofJob := apirules.CheckMetadata(r.meta, r.jobPath("metadata"))
	if r.cronJob == nil {
		r.rejectAll(ofJob)
		return
	}
	r.rejectAll(apirules.CheckMetadata(&r.cronJob.ObjectMeta, metadata))
	r.addOfJobs(ofJob)
}

// checkSelector finds selectors that may select the pods of other Jobs.
func checkSelector(r *review) {
	selector, err := metav1.LabelSelectorAsSelector(r.spec.Selector)
	if err == nil && r.cronJob == nil && jobspec.HasManualSelector(r.spec) && selector.Matches(labels.Set(r.spec.Template.Labels)) {
		r.add(Warning, "selector-manual", r.specPath("manualSelector"), "remove selector and manualSelector: the API server generates a unique selector",
			"if the selector matches another Job's pods, both Jobs compete for them")
	}
}
