package lint

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/apirules"
)

func checkRestartPolicy(r *review) {
	policy, path := r.spec.Template.Spec.RestartPolicy, r.specPath("template", "spec", "restartPolicy")
	allowed := string(corev1.RestartPolicyNever)
	if r.spec.PodFailurePolicy == nil {
		allowed += ", or OnFailure to restart containers in their pod"
	}
	change := "change it to " + allowed
	if r.inJobSet() { // JobSet's default is OnFailure
		change = "use restartPolicy: " + allowed
	}
	switch {
	case policy == "":
		r.reject("restart-policy-missing", path, "add restartPolicy: "+allowed, "restartPolicy must be Never or OnFailure: a Job does not allow the pod default, Always")
	case policy == corev1.RestartPolicyAlways:
		r.reject("restart-policy-always", path, change, "the pods of a Job must end, so restartPolicy Always is not allowed")
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		r.reject("restart-policy-unknown", path, change, "there is no restartPolicy %q", policy)
	case policy == corev1.RestartPolicyOnFailure && r.spec.PodFailurePolicy != nil:
		r.reject("failure-policy-on-failure", path, change, "podFailurePolicy needs restartPolicy Never, because it handles failed pods")
	}
}

// checkLogLost reports that the controller deletes the pod of a Job at its back-off limit, if the pod restarts its
// containers itself. In a JobSet, OnFailure is the default for templates without a restartPolicy, so it is not
// reported.
func checkLogLost(r *review) {
	if r.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && r.spec.PodFailurePolicy == nil && !r.inJobSet() {
		r.add(Info, "log-lost-at-limit", r.specPath("template", "spec", "restartPolicy"), "use restartPolicy: Never to keep failed pods and their logs",
			"with restartPolicy OnFailure, the pod is deleted when the Job reaches its backoffLimit, and its log with it")
	}
}

func (r *review) rejectAll(problems []apirules.Problem) {
	for _, p := range problems {
		r.reject(p.ID, p.Path, p.Fix, "%s", p.Message)
	}
}

// checkAPIRules reports problems for which the API server rejects the object.
func checkAPIRules(r *review) {
	r.rejectAll(apirules.CheckObject(r.content))
	r.rejectAll(apirules.CheckJob(r.job, r.path))
}

// checkTemplate reports problems for which the API server rejects the pod template in any object.
func checkTemplate(r *review) {
	spec, _ := r.job["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	r.rejectAll(apirules.Check(&r.spec.Template, template, r.specPath("template"), r.volumes))
}

// checkMetadata checks labels and annotations of the object, and of the Jobs of a CronJob, which the API server accepts
// until the CronJob creates a Job.
func checkMetadata(r *review) {
	ofJob := apirules.CheckMetadata(r.meta, r.jobPath("metadata"))
	if r.cronJob == nil {
		r.rejectAll(ofJob)
		return
	}
	r.rejectAll(apirules.CheckMetadata(&r.cronJob.ObjectMeta, metadata))
	for _, p := range ofJob {
		r.add(Error, p.ID, p.Path, p.Fix, "%s: no Job of this CronJob can be created", p.Message)
	}
}

// checkTemplateLabels finds labels that the API server sets on the template itself, and whose other values it rejects.
func checkTemplateLabels(r *review) {
	if r.hasManualSelector() {
		return
	}
	uid, name := string(r.meta.UID), r.meta.Name
	for _, l := range []struct{ label, own string }{
		{"controller-uid", uid}, {batchv1.ControllerUidLabel, uid}, {"job-name", name}, {batchv1.JobNameLabel, name},
	} {
		value, found := r.spec.Template.Labels[l.label]
		if !found || r.cronJob == nil && value != "" && value == l.own {
			continue
		}
		path := r.specPath("template", "metadata", "labels").Key(l.label)
		const id, fix, message = "template-label-reserved", "remove the label", "the API server sets the label %s itself and rejects other values"
		if r.cronJob == nil {
			r.reject(id, path, fix, message, l.label)
		} else {
			r.add(Error, id, path, fix, message+": no Job of this CronJob can be created", l.label)
		}
	}
}

const selectorFix = "remove selector and manualSelector: the API server generates a unique selector"

// checkSelector finds selectors that the API server rejects, or that may select the pods of other Jobs.
func checkSelector(r *review) {
	selector, path := r.spec.Selector, r.specPath("selector")
	switch {
	case r.cronJob != nil:
		const fix, message = "remove it", "the API server generates the selector of a CronJob's Jobs"
		if selector != nil {
			r.reject("selector-in-cronjob", path, fix, message)
		}
		if r.hasManualSelector() {
			r.reject("selector-in-cronjob", r.specPath("manualSelector"), fix, message)
		}
	case r.hasManualSelector() && selector == nil:
		r.reject("selector-missing", path, selectorFix, "manualSelector needs a selector")
	case r.hasManualSelector() && !matchesLabels(selector, r.spec.Template.Labels):
		r.reject("selector-mismatch", path, selectorFix, "the selector does not match the labels of the pod template")
	case r.hasManualSelector():
		r.add(Warning, "selector-manual", r.specPath("manualSelector"), selectorFix, "if the selector matches another Job's pods, both Jobs compete for them")
	case selector != nil && !matchesLabels(selector, r.generatedLabels()):
		r.reject("selector-not-manual", path, selectorFix, "without manualSelector, the selector can only be on labels that the API server sets itself, such as job-name")
	}
}

func (r *review) hasManualSelector() bool {
	return r.spec.ManualSelector != nil && *r.spec.ManualSelector
}

// generatedLabels returns the labels that the API server sets in the pod template (validateGeneratedSelector of
// Kubernetes). A new Job has no UID yet, so no selector can match its future UID.
func (r *review) generatedLabels() labels.Set {
	uid, name := cmp.Or(string(r.meta.UID), "unknown UID"), cmp.Or(r.meta.Name, "unknown name")
	return labels.Set{"controller-uid": uid, batchv1.ControllerUidLabel: uid, "job-name": name, batchv1.JobNameLabel: name}
}

// matchesLabels reports whether the selector is valid and matches the labels.
func matchesLabels(selector *metav1.LabelSelector, of labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(of)
}
