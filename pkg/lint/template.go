package lint

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkRestartPolicy(r *review) {
	policy, path := r.spec.Template.Spec.RestartPolicy, r.specPath("template", "spec", "restartPolicy")
	allowed := string(corev1.RestartPolicyNever)
	if r.spec.PodFailurePolicy == nil {
		allowed += ", or OnFailure to restart containers in their pod"
	}
	change := "change it to " + allowed
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

// checkContainers checks the names of containers, which init containers must not repeat.
func checkContainers(r *review) {
	pod := &r.spec.Template.Spec
	if len(pod.Containers) == 0 {
		r.reject("no-containers", r.specPath("template", "spec", "containers"), "add a container", "the template has no container")
	}
	seen := map[string]bool{}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", pod.Containers}, {"initContainers", pod.InitContainers}} {
		path := r.specPath("template", "spec", list.name)
		for i := range list.containers {
			r.checkContainerName(list.containers[i].Name, path.Index(i).Child("name"), seen)
			if list.containers[i].Image == "" {
				r.reject("container-without-image", path.Index(i).Child("image"), "add an image", "the container has no image")
			}
		}
	}
}

func (r *review) checkContainerName(name string, path *field.Path, seen map[string]bool) {
	if name == "" {
		r.reject("container-without-name", path, "add a name", "the container has no name")
		return
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		r.reject("container-name-invalid", path, "use at most 63 lowercase letters, digits and '-', with no '-' at the beginning or end",
			"the container name %q is not allowed", shorten(name))
	}
	if seen[name] {
		r.reject("container-name-twice", path, "give each container its own name", "there is already a container %q", shorten(name))
	}
	seen[name] = true
}

// checkTemplateLabels finds labels that the API server sets on the template, and rejects there with other
// values.
func checkTemplateLabels(r *review) {
	if r.manualSelector() {
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

// checkSelector finds a selector without manualSelector: the API server generates it then.
func checkSelector(r *review) {
	selector, path := r.spec.Selector, r.specPath("selector")
	switch {
	case r.cronJob != nil:
		r.checkTemplateSelector()
	case r.manualSelector():
		r.checkManualSelector(selector, path)
	case selector != nil && !r.generated(selector):
		r.reject("selector-not-manual", path, selectorFix, "the API server generates the selector itself and rejects others")
	}
}

func (r *review) manualSelector() bool { return r.spec.ManualSelector != nil && *r.spec.ManualSelector }

func (r *review) checkTemplateSelector() {
	const fix, message = "remove it", "the API server generates the selector of a CronJob's Jobs"
	if r.spec.Selector != nil {
		r.reject("selector-in-cronjob", r.specPath("selector"), fix, message)
	}
	if r.manualSelector() {
		r.reject("selector-in-cronjob", r.specPath("manualSelector"), fix, message)
	}
}

func (r *review) checkManualSelector(selector *metav1.LabelSelector, path *field.Path) {
	switch {
	case selector == nil:
		r.reject("selector-missing", path, selectorFix, "manualSelector needs a selector")
	case !selects(selector, r.spec.Template.Labels):
		r.reject("selector-mismatch", path, selectorFix, "the selector does not match the labels of the pod template")
	default:
		r.add(Warning, "selector-manual", r.specPath("manualSelector"), selectorFix, "if the selector matches another Job's pods, both Jobs compete for them")
	}
}

// generated reports whether the selector is empty, or the one that the API server generated for this very Job, as
// in the output of kubectl get.
func (r *review) generated(selector *metav1.LabelSelector) bool {
	if len(selector.MatchExpressions) > 0 {
		return false
	}
	for label, value := range selector.MatchLabels {
		if label != batchv1.ControllerUidLabel || value != string(r.meta.UID) {
			return false
		}
	}
	return true
}

func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || s.Matches(labels.Set(of))
}
