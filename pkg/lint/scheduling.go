package lint

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// ourName is the default managedBy of this project's controller.
const ourName = "batchjob.dev/controller"

// checkScheduling checks spec.scheduling, which is alpha, and which only the built-in
// controller supports (JOB-64).
func checkScheduling(r *review) {
	if r.spec.Scheduling == nil {
		return
	}
	asked := reconcile.UnsupportedScheduling(&batchv1.Job{Spec: *r.spec})
	if asked == "" {
		return
	}
	path := r.specPath("scheduling")
	const fix = "leave managedBy out, or make the PodGroup yourself and name it in spec.template.spec.schedulingGroup"
	switch managedBy := r.spec.ManagedBy; {
	case managedBy != nil && *managedBy == ourName:
		r.add(Error, "scheduling-not-supported", path, fix, "the controller %s makes no PodGroup for %s, and so creates no pods of this Job", ourName, asked)
	case managedBy != nil && !r.managedByBuiltin():
		r.add(Warning, "scheduling-not-supported", path, fix, "kubectl batchjob's controller, if it is the one, makes no PodGroup for %s, and so creates no pods of this Job", asked)
	case r.cronJob != nil:
		r.add(Warning, "scheduling-of-cronjob", path, "make the PodGroup yourself and name it in the template's schedulingGroup",
			"the built-in Job controller makes no PodGroup for a Job that a CronJob owns: %s has no effect", asked)
	default:
		r.add(Info, "scheduling-alpha", path, "see that the feature gate WorkloadWithJob is on",
			"spec.scheduling is alpha: an API server without the feature gate WorkloadWithJob drops it, and the pods are scheduled one by one")
	}
}
