package lint

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// MisspelledManagedBy is the ID of the Finding that spec.managedBy looks like a misspelling of this controller's name.
const MisspelledManagedBy = "managed-by-misspelled"

// maxTypos is the largest distance between a misspelling and the name.
const maxTypos = 2

func checkManagedBy(r *review) {
	if value := r.spec.ManagedBy; value != nil && *value != ourName && typo.Distance(*value, ourName) <= maxTypos {
		r.add(Warning, MisspelledManagedBy, r.specPath("managedBy"), "write "+ourName, "managedBy %q looks like a misspelling of %s: no controller would run the Job", *value, ourName)
	}
}

// isManagedByBuiltin reports whether the Job names the built-in controller.
func (r *review) isManagedByBuiltin() bool {
	return r.spec.ManagedBy != nil && *r.spec.ManagedBy == batchv1.JobControllerName
}

const ourName = reconcile.DefaultManagedBy

// checkScheduling checks spec.scheduling, which is alpha, and which only the built-in controller supports (JOB-64).
func checkScheduling(r *review) {
	if r.spec.Scheduling == nil {
		return
	}
	asked := reconcile.UnsupportedScheduling(&batchv1.Job{Spec: *r.spec})
	if asked == "" {
		return
	}
	path := r.specPath("scheduling")
	const fix = "remove managedBy, or create the PodGroup yourself and name it in spec.template.spec.schedulingGroup"
	switch managedBy := r.spec.ManagedBy; {
	case managedBy != nil && *managedBy == ourName:
		r.add(Error, "scheduling-not-supported", path, fix, "controller %s does not create a PodGroup for %s, so it creates no pods for this Job", ourName, asked)
	case managedBy != nil && !r.isManagedByBuiltin():
		r.add(Warning, "scheduling-not-supported", path, fix, "kubectl batchjob's controller, if it runs this Job, does not create a PodGroup for %s, so it creates no pods for it", asked)
	case r.cronJob != nil:
		r.add(Warning, "scheduling-of-cronjob", path, "create the PodGroup yourself and name it in the template's schedulingGroup",
			"the built-in Job controller does not create PodGroups for Jobs of a CronJob, so %s has no effect", asked)
	default:
		r.add(Info, "scheduling-alpha", path, "make sure that the feature gate WorkloadWithJob is enabled",
			"spec.scheduling is alpha: without the feature gate WorkloadWithJob, the API server drops it, and the pods are scheduled one by one")
	}
}
