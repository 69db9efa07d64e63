package lint

import (
	"cmp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
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
	meta := r.ownMeta()
	field, name := "name", meta.Name
	if generated := meta.GenerateName; name == "" && generated != "" { // the API server adds five characters
		field, name = "generateName", generated[:min(len(generated), maxLabel-5)]+"xxxxx"
	}
	path := metadata.Child(field)
	if g := meta.GenerateName; (meta.Name != "" || len(g) > validation.DNS1123SubdomainMaxLength) && g != "" && len(validation.IsDNS1123Subdomain(g+"x")) > 0 {
		r.reject("name-invalid", metadata.Child("generateName"), "use a shorter one, or remove it", "the name %q is not allowed", shorten(g))
	}
	switch {
	case name == "":
		r.reject("name-missing", path, "add metadata.name or metadata.generateName", "the object has no name")
		return
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		r.reject("name-invalid", path, "use lowercase letters, digits, '-' and '.'", "the name %q is not allowed", shorten(cmp.Or(meta.Name, meta.GenerateName)))
		return
	}
	whose := "the name"
	if r.inJobSet() {
		whose = "the Job's name " + name
	}
	switch n := len(name); {
	case r.cronJob != nil && n > maxCronJobName:
		r.reject("name-invalid", path, "choose a shorter name", "the name has %d characters, but a CronJob's name may have at most %d", n, maxCronJobName)
	case r.cronJob == nil && !jobspec.HasManualSelector(r.spec) && n > maxLabel:
		r.reject("name-invalid", path, "choose a shorter name", "%s has %d characters, but must fit into a pod label, which may have at most %d", whose, n, maxLabel)
	}
	if r.cronJob == nil {
		r.rejectAll(apirules.Hostname(name, &r.stored().Spec, path))
	}
}

var metadata = field.NewPath("metadata")

// ownMeta returns the metadata of the object itself.
func (r *review) ownMeta() *metav1.ObjectMeta {
	if r.cronJob != nil {
		return &r.cronJob.ObjectMeta
	}
	return r.meta
}

// checkFromCluster finds an object that was read from a cluster, as kubectl get -o yaml prints it: it has fields that
// the API server sets, and that are wrong for any other object. With a version, or with the selector of another Job, it is
// rejected.
func checkFromCluster(r *review) {
	meta, what := r.ownMeta(), "a Job"
	if r.cronJob != nil {
		what = "a CronJob"
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
	rejected, path := meta.ResourceVersion != "", field.NewPath(set[0])
	if r.cronJob == nil && !jobspec.HasManualSelector(r.spec) {
		if r.spec.Selector != nil {
			set, rejected = append(set, "spec.selector"), true
		}
		for _, label := range []string{"controller-uid", batchv1.ControllerUidLabel} {
			if _, found := r.spec.Template.Labels[label]; found {
				set, rejected = append(set, "the label "+label+" of the template"), true
			}
		}
	}
	fix := "remove " + strings.Join(append([]string{"status"}, set[:len(set)-1]...), ", ") + " and " + set[len(set)-1]
	const message = "this is %s from a cluster, as kubectl get prints it"
	if rejected {
		r.reject("from-cluster", path, fix, message+": the API server rejects it as a new one", what)
	} else {
		r.add(Warning, "from-cluster", path, fix, message+": the API server ignores some of its fields", what)
	}
}
