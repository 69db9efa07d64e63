package testcluster

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// auditor checks the history, one namespace at a time.
type auditor struct {
	territory *invariants.Territory
	requests  *podRequests
	// excused is the number of violations that requests excused.
	excused int
}

// newAuditor returns an auditor that reads the audit log of the API server.
func newAuditor(log string) *auditor {
	return &auditor{territory: invariants.NewTerritory("batchjob.dev/controller"), requests: newPodRequests(log)}
}

// audit replays the history of a namespace, and returns the violations. A namespace must not be audited twice.
func (c *auditor) audit(namespace string, versions []history.Version) (problems []string) {
	if err := c.requests.follow(); err != nil {
		problems = append(problems, err.Error())
	}
	violations := slices.Concat(invariants.AtRest(versions), c.territory.Check(versions))
	broken := c.requests.excuses(versions).Check(versions)
	c.excused += len(invariants.Check(versions)) - len(broken)
	c.requests.forget(versions)
	for _, v := range broken {
		if c.excuse(v) == "" {
			violations = append(violations, v)
		}
	}
	for _, v := range violations {
		problems = append(problems, namespace+": "+v.String())
	}
	for _, p := range slices.Concat(footprints(versions), kubelets(versions)) {
		problems = append(problems, namespace+": "+p)
	}
	return problems
}

// excuse returns why a violation is not our controllers', or "".
func (c *auditor) excuse(v invariants.Violation) string {
	switch {
	case strings.HasPrefix(v.Invariant, "STV-"):
	case history.IsBuiltIn(v.Job):
		return "the invariants are ours, and the built-in controller has others"
	}
	return ""
}

// footprints checks PRP-24 from the view of a quota controller: under podReplacementPolicy Failed a status never shows
// more active and terminating pods than the highest parallelism that the Job ever had. Only controllers create pods
// here.
func footprints(versions []history.Version) (problems []string) {
	jobs, bounds := map[types.UID]*batchv1.Job{}, map[types.UID]int32{}
	for _, v := range versions {
		if v.Job == nil {
			continue
		}
		job, old := v.Job, jobs[v.Job.UID]
		jobs[job.UID], bounds[job.UID] = job, max(bounds[job.UID], ptr.Deref(job.Spec.Parallelism, 1))
		if history.IsBuiltIn(job) || !replacesFailedOnly(job) || old != nil && equality.Semantic.DeepEqual(old.Status, job.Status) {
			continue
		}
		if used := job.Status.Active + ptr.Deref(job.Status.Terminating, 0); used > bounds[job.UID] {
			problems = append(problems, fmt.Sprintf("PRP-24 at revision %d: the status of Job %s has %d active and terminating pods, and parallelism is %d",
				v.Revision, job.Name, used, bounds[job.UID]))
		}
	}
	return problems
}

func replacesFailedOnly(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

// kubelets checks that the simulated nodes behave like kubelets: a pod ends only once.
func kubelets(versions []history.Version) (problems []string) {
	pods := map[types.UID]*corev1.Pod{}
	for _, v := range versions {
		if v.Pod == nil {
			continue
		}
		if old := pods[v.Pod.UID]; old != nil && history.HasEnded(old) && old.Status.Phase != v.Pod.Status.Phase {
			problems = append(problems, fmt.Sprintf("at revision %d: pod %s ended %s, and then %s", v.Revision, v.Pod.Name, old.Status.Phase, v.Pod.Status.Phase))
		}
		pods[v.Pod.UID] = v.Pod
	}
	return problems
}
