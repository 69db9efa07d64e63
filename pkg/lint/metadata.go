package lint

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxCronJobName leaves space for the suffix that the CronJob controller adds.
	maxCronJobName = 52
	// maxLabel is the maximum length of a label value: the API server adds a label with the Job's name to its
	// pods.
	maxLabel = 63
)

// checkName checks the name of the object itself: a template needs none.
func checkName(r *review) {
	meta, path := r.meta, field.NewPath("metadata", "name")
	if r.cronJob != nil {
		meta = &r.cronJob.ObjectMeta
	}
	if meta.Name == "" {
		if meta.GenerateName == "" {
			r.reject("name-missing", path, "add metadata.name or metadata.generateName", "the object has no name")
		}
		return
	}
	for _, problem := range validation.IsDNS1123Subdomain(meta.Name) {
		r.reject("name-invalid", path, "use lowercase letters, digits, '-' and '.'", "the name %q is not allowed: %s", meta.Name, problem)
		return
	}
	whose := "the name"
	if r.path != nil && r.cronJob == nil {
		whose = "the Job's name " + meta.Name
	}
	switch n := len(meta.Name); {
	case r.cronJob != nil && n > maxCronJobName:
		r.reject("name-invalid", path, "choose a shorter name", "the name has %d characters, but a CronJob's name may have at most %d", n, maxCronJobName)
	case r.cronJob == nil && !r.hasManualSelector() && n > maxLabel:
		r.reject("name-invalid", path, "choose a shorter name", "%s has %d characters, but must fit into a pod label, which may have at most %d", whose, n, maxLabel)
	}
	r.checkHostname(meta.Name, path)
}

// checkHostname checks the longest host name of an Indexed Job's pods, which has the last index.
func (r *review) checkHostname(name string, path *field.Path) {
	completions, known := r.completions()
	if r.cronJob != nil || !known || completions == 0 {
		return
	}
	hostname := fmt.Sprintf("%s-%d", name, completions-1)
	if problems := validation.IsDNS1123Label(hostname); len(problems) > 0 {
		r.reject("name-not-a-hostname", path, "choose a name without dots that leaves room for '-' and the index in 63 characters",
			"the pod of the last index cannot have the host name %q: %s", hostname, problems[0])
	}
}

// checkFromCluster finds an object that was read from a cluster, as kubectl get -o yaml prints it: it has fields that
// the API server sets, and that are wrong for any other object.
func checkFromCluster(r *review) {
	meta, what := r.meta, "a Job"
	if r.cronJob != nil {
		meta, what = &r.cronJob.ObjectMeta, "a CronJob"
	}
	var set []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"uid", meta.UID != ""}, {"resourceVersion", meta.ResourceVersion != ""}, {"managedFields", len(meta.ManagedFields) > 0}} {
		if f.set {
			set = append(set, "metadata."+f.name)
		}
	}
	if len(set) == 0 {
		return
	}
	fix := "remove status and " + strings.Join(set, ", ")
	if r.cronJob == nil {
		fix += ", spec.selector and the controller-uid labels of the template"
	}
	r.add(Warning, "from-cluster", field.NewPath(set[0]), fix, "this is %s from a cluster, as kubectl get prints it: the API server rejects it as a new one", what)
}
