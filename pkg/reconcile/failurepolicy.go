package reconcile

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// verdicts holds the results of the podFailurePolicy for failed pods that are not recorded yet; nil without a policy.
type verdicts map[types.UID]*failurepolicy.Match

// applyFailurePolicy evaluates spec.podFailurePolicy on each failed pod that is not recorded yet. With a policy, these
// pods are in phase Failed, and never merely terminating (PFP-01, replaceFailedOnly).
func applyFailurePolicy(job *jobView, failed []*Pod) verdicts {
	if job.spec.PodFailurePolicy == nil {
		return nil
	}
	v := make(verdicts, len(failed))
	for _, p := range failed {
		m := evaluate(job, p)
		v[p.UID] = &m
	}
	return v
}

// evaluate evaluates the podFailurePolicy on a pod.
func evaluate(job *jobView, p *Pod) failurepolicy.Match {
	return failurepolicy.Evaluate(job.spec.PodFailurePolicy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, job.perIndex)
}

// action returns the action of the podFailurePolicy for a failed pod, or "".
func (v verdicts) action(p *Pod) batchv1.PodFailurePolicyAction {
	if m := v[p.UID]; m != nil {
		return m.Action
	}
	return ""
}

// split separates the failures that count from those that a rule ignores.
func (v verdicts) split(failed []*Pod) (counted, ignored []*Pod) {
	counted = make([]*Pod, 0, len(failed))
	for _, p := range failed {
		if v.action(p) == batchv1.PodFailurePolicyActionIgnore {
			ignored = append(ignored, p)
		} else {
			counted = append(counted, p)
		}
	}
	return counted, ignored
}

// list returns pods with their verdicts, for the findings.
func (v verdicts) list(pods []*Pod) []FailedPod {
	if len(pods) == 0 {
		return nil
	}
	list := make([]FailedPod, 0, len(pods))
	for _, p := range pods {
		list = append(list, FailedPod{p, v[p.UID]})
	}
	return list
}

// failJob ends a Job with a failure that a rule with action FailJob matches. The earliest such failure decides, so that
// the reason does not depend on the order of the cache (PFN-05).
func failJob(job *jobView, failed []*Pod, v verdicts, names rulename.Names) outcome {
	var first *Pod
	for _, p := range failed {
		if v.action(p) == batchv1.PodFailurePolicyActionFailJob && (first == nil || compareFailures(p, first) < 0) {
			first = p
		}
	}
	if first == nil {
		return outcome{}
	}
	m := v[first.UID]
	end := outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonPodFailurePolicy, message: m.Message(job.object.Namespace, first.Name)}
	if job.cfg.Features.RuleNames {
		end.reason = rulename.Reason(names.Name(m.Rule), m.Rule) // KEP-4443
	}
	return end
}

// RuleNames returns the names of the rules of the podFailurePolicy, and the violations in the annotation (KEP-4443).
// native is Observation.RuleNames.
func RuleNames(job *batchv1.Job, native []string) (rulename.Names, []rulename.Violation) {
	if job.Spec.PodFailurePolicy == nil {
		return nil, nil
	}
	return rulename.Resolve(native, job.Annotations[rulename.Annotation], len(job.Spec.PodFailurePolicy.Rules))
}

// releaseIgnored releases pods whose failure does not count. They are not recorded (PFP-05), but are kept while the
// next pod of their index needs their count (BLI-04).
func releaseIgnored(job *jobView, pods *podLists, end outcome, waits replacements, plan *planner) {
	if job.perIndex && end.decided() && !end.stored {
		// The pods are the only evidence of the failures; if the interim condition cannot be stored, their indexes may
		// continue.
		return
	}
	for _, p := range pods.ignored {
		if waits.has(p) {
			continue
		}
		plan.notCounted(p, IgnoredByRule)
		r := ref(p, unconditional)
		r.Ignored = true
		if p.FinishedAt.After(pods.history.LastSuccess) {
			r.IgnoredFailure = p.FinishedAt
		}
		plan.release(r)
	}
}
