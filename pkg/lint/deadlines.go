package lint

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/command"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// checkActiveDeadline finds a deadline of 0, which API servers accept, and which expires as soon as the Job starts
// (D-35).
func checkActiveDeadline(r *review) {
	if deadline := r.spec.ActiveDeadlineSeconds; deadline != nil && *deadline == 0 {
		r.add(Error, "deadline-zero", r.specPath("activeDeadlineSeconds"), "use 1 or more, or remove it", "with activeDeadlineSeconds 0, the Job fails as soon as it starts")
	}
}

func checkTTL(r *review) {
	if isZero(r.spec.TTLSecondsAfterFinished) {
		r.add(Info, "ttl-zero", r.specPath("ttlSecondsAfterFinished"), "use at least a few minutes",
			"with ttlSecondsAfterFinished 0, the Job, its pods and their logs are deleted as soon as it ends, so nobody can see why it failed")
	}
}

// hasDeadline reports whether a deadline ends the Job's pods.
func (r *review) hasDeadline() bool {
	return r.spec.ActiveDeadlineSeconds != nil || r.spec.Template.Spec.ActiveDeadlineSeconds != nil
}

// checkWaits finds init containers that wait in an endless loop: no failure is counted, so the Job stays active.
func checkWaits(r *review) {
	if r.hasDeadline() {
		return
	}
	for i := range r.spec.Template.Spec.InitContainers {
		container := &r.spec.Template.Spec.InitContainers[i]
		place, waits := command.WaitsForever(container)
		if !waits || apirules.IsSidecar(container) {
			continue
		}
		path := r.specPath("template", "spec", "initContainers").Index(i).Child(place.Field).Index(place.Index)
		r.add(Warning, "wait-without-deadline", path, "add activeDeadlineSeconds to the Job's spec, or let the loop fail after some time",
			"init container %q waits in a loop, and nothing ends it: if what it waits for never comes, the Job stays active forever", shorten(container.Name))
	}
}

// checkPodDeadline finds a deadline that is probably intended for the Job: each pod that replaces a failed one gets it
// anew. If a Job runs several pods, the deadline may be intended for each.
func checkPodDeadline(r *review) {
	deadline, limit := r.spec.Template.Spec.ActiveDeadlineSeconds, jobspec.BackoffLimit(r.spec)
	many := r.spec.Completions != nil && *r.spec.Completions > 1 || jobspec.Parallelism(r.spec) > 1
	if deadline == nil || *deadline < 1 || r.spec.ActiveDeadlineSeconds != nil || many || limit < 1 {
		return
	}
	r.add(Warning, "deadline-per-pod", r.specPath("template", "spec", "activeDeadlineSeconds"), "move activeDeadlineSeconds to the Job's spec, or add backoffLimit: 0",
		"activeDeadlineSeconds of the pod template is for each pod: the Job replaces a pod that reaches it, and the next one has %d s again", *deadline)
}

// checkRetriesFit finds a deadline that ends the Job before its last retry can start.
func checkRetriesFit(r *review) {
	deadline, limit := r.spec.ActiveDeadlineSeconds, jobspec.BackoffLimit(r.spec)
	if deadline == nil || *deadline < 1 || jobspec.Parallelism(r.spec) > 1 || r.spec.BackoffLimitPerIndex != nil || r.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return
	}
	of, fix := "", "raise activeDeadlineSeconds, or lower backoffLimit"
	if r.spec.BackoffLimit == nil {
		of, fix = ", the default of backoffLimit", "raise activeDeadlineSeconds, or add a lower backoffLimit"
	}
	if waits, retries := retriesWithin(time.Duration(*deadline)*time.Second, limit); retries < limit {
		r.add(Info, "deadline-before-retries", r.specPath("activeDeadlineSeconds"), fix,
			"activeDeadlineSeconds %d ends the Job before retry %d of %d%s: the waits before it take %s", *deadline, retries+1, limit, of, waits)
	}
}

// retriesWithin returns how many retries can start before the deadline if each pod fails at once, and the waits before
// the first retry that cannot.
func retriesWithin(deadline time.Duration, limit int32) (waits time.Duration, retries int32) {
	policy := reconcile.DefaultConfig().Backoff
	for retries < limit {
		if waits += policy.Delay(retries + 1); waits >= deadline {
			break
		}
		retries++
	}
	return waits, retries
}
