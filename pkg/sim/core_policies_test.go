package sim_test

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

func drawConfig(t *rapid.T) reconcile.Config {
	config := reconcile.DefaultConfig()
	f := &config.Features
	for _, feature := range []*bool{&f.RuleNames, &f.BackoffLimitPerIndex, &f.PodReplacementPolicy, &f.SuccessPolicy} {
		*feature = rapid.IntRange(0, 5).Draw(t, "feature off") > 0
	}
	config.MaxUncounted = rapid.SampledFrom([]int{1, 2, 500}).Draw(t, "max uncounted")
	return config
}

// drawPolicies adds policies that the API server accepts for the spec.
func drawPolicies(t *rapid.T, spec *batchv1.JobSpec) {
	if history.IsIndexed(spec) && rapid.Bool().Draw(t, "per index") {
		spec.BackoffLimitPerIndex = ptr.To(rapid.Int32Range(0, 2).Draw(t, "limit per index"))
		spec.MaxFailedIndexes = maybe(t, "maxFailedIndexes", 3)
	}
	if history.IsIndexed(spec) && rapid.IntRange(0, 2).Draw(t, "success policy") == 0 {
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{
			SucceededIndexes: rapid.SampledFrom([]*string{nil, ptr.To("0"), ptr.To("0-2"), ptr.To("")}).Draw(t, "succeededIndexes"),
			SucceededCount:   ptr.To(rapid.Int32Range(0, 3).Draw(t, "succeededCount")),
		}}}
	}
	if rapid.IntRange(0, 2).Draw(t, "failure policy") > 0 {
		return
	}
	spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob, "Later"}
	if spec.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		rule := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
		if rapid.Bool().Draw(t, "on exit codes") {
			rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}).Draw(t, "operator"),
				Values:   []int32{rapid.Int32Range(1, 2).Draw(t, "code")},
			}
		} else {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}
		spec.PodFailurePolicy.Rules = append(spec.PodFailurePolicy.Rules, rule)
	}
}

// drawEvidence adds data about a pod besides its phase.
func drawEvidence(t *rapid.T, p *reconcile.Pod) {
	p.Failures, p.Ignored = rapid.Int32Range(0, 3).Draw(t, "failures"), rapid.Int32Range(0, 2).Draw(t, "ignored")
	p.Unselected = rapid.IntRange(0, 9).Draw(t, "unselected") == 0
	if p.Phase != corev1.PodFailed {
		return
	}
	p.Terminated = []failurepolicy.Container{{Name: "main", ExitCode: rapid.Int32Range(0, 3).Draw(t, "exit code")}}
	if rapid.IntRange(0, 2).Draw(t, "disrupted") == 0 {
		p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
}

// drawFailedIndexes adds failed indexes to a status, if the spec allows any.
func drawFailedIndexes(t *rapid.T, job *batchv1.Job) {
	if job.Spec.BackoffLimitPerIndex == nil || rapid.IntRange(0, 3).Draw(t, "no failedIndexes") == 0 {
		return
	}
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	var failed []int32
	for i := range *job.Spec.Completions {
		if !completed.Contains(i) && rapid.IntRange(0, 3).Draw(t, "failed index") == 0 {
			failed = append(failed, i)
		}
	}
	job.Status.FailedIndexes = ptr.To(indexset.Of(failed...).String())
}

// drawStrays draws pods without a controller.
func drawStrays(t *rapid.T) []*reconcile.Pod {
	var strays []*reconcile.Pod
	for i := range rapid.IntRange(0, 2).Draw(t, "strays") {
		p := &reconcile.Pod{Name: fmt.Sprintf("s%d", i), UID: types.UID(fmt.Sprintf("stray%d", i)), ResourceVersion: "1"}
		p.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}).Draw(t, "stray phase")
		p.Index = rapid.Int32Range(-1, 4).Draw(t, "stray index")
		p.Finalizer, p.Scheduled = rapid.Bool().Draw(t, "stray tracked"), p.Phase != corev1.PodPending
		if p.IsTerminal() {
			p.FinishedAt = observedAt
		}
		strays = append(strays, p)
	}
	return strays
}

// isIgnored is a naive implementation of the podFailurePolicy.
func isIgnored(config reconcile.Config, job *batchv1.Job, p *reconcile.Pod) bool {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: p.Phase}}
	for _, t := range p.Terminated {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: t.Name, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: t.ExitCode},
		}})
	}
	for _, condition := range p.Conditions {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition.Type, Status: condition.Status})
	}
	perIndex := history.IsIndexed(&job.Spec) && job.Spec.BackoffLimitPerIndex != nil && config.Features.BackoffLimitPerIndex
	action, _ := rules.MatchedRule(job.Spec.PodFailurePolicy, pod, perIndex)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// checkIndexes: no pod is created for an index that has ended, and a new pod counts one failure
// more than a failed pod (S6, BLI-04, BLI-13).
func checkIndexes(t *rapid.T, o reconcile.Observation, config reconcile.Config, plan reconcile.Plan) {
	perIndex := history.IsIndexed(&o.Job.Spec) && o.Job.Spec.BackoffLimitPerIndex != nil && config.Features.BackoffLimitPerIndex
	completed, _ := indexset.Parse(o.Job.Status.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(o.Job.Status.FailedIndexes, ""))
	for _, n := range plan.Create {
		if completed.Contains(n.Index) || perIndex && failed.Contains(n.Index) {
			t.Errorf("S6: a pod is created for index %d, which has ended", n.Index)
		}
		if n.PerIndex != perIndex {
			t.Errorf("BLI-03: %+v", n)
		}
		known := slices.ContainsFunc(o.Pods, func(p *reconcile.Pod) bool {
			return p.Index == n.Index && n.Failures+n.Ignored == p.Failures+p.Ignored+1
		})
		if n.Failures+n.Ignored > 0 && !known {
			t.Errorf("BLI-04: no pod of the index tells of %+v", n)
		}
	}
}
