package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// begun is the start time of the Jobs of these tests; now is an hour later.
var (
	begun = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	now   = begun.Add(time.Hour)
)

// observed is an observation under construction: observe(job…).pods(…).
type observed struct {
	Observation
	config Config
}

// observeJob returns an observation of a running NonIndexed Job with the API server's
// defaults, changed by the options.
func observeJob(options ...func(*batchv1.Job)) *observed {
	start := metav1.NewTime(begun)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "job"}}
	job.Spec = batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.NonIndexedCompletion), Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1),
		BackoffLimit: ptr.To[int32](6), Suspend: ptr.To(false), PodReplacementPolicy: ptr.To(batchv1.TerminatingOrFailed),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}},
	}
	job.Status = batchv1.JobStatus{
		StartTime: &start, Ready: ptr.To[int32](0), Terminating: ptr.To[int32](0), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	o := &observed{Observation{Job: job, Now: now}, DefaultConfig()}
	for _, option := range options {
		option(job)
	}
	return o
}

// indexed makes the Job Indexed.
func indexed(completions, parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism
	}
}

// sized sets completions and parallelism of a NonIndexed Job.
func sized(completions, parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism }
}

// perIndex sets backoffLimitPerIndex, with the API server's default for backoffLimit.
func perIndex(limit int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = &limit, ptr.To[int32](1<<31-1)
		j.Status.FailedIndexes = ptr.To("")
	}
}

// failurePolicy sets podFailurePolicy, and the matching replacement policy.
func failurePolicy(rules ...batchv1.PodFailurePolicyRule) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules}
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
}

// onExit returns a rule for exit codes.
func onExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes}}
}

// onCondition returns a rule for a pod condition that is True.
func onCondition(action batchv1.PodFailurePolicyAction, t corev1.PodConditionType) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: t, Status: corev1.ConditionTrue}}}
}

// successRules sets successPolicy.
func successRules(rules ...batchv1.SuccessPolicyRule) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}

// condition adds a condition to the stored status.
func condition(t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: t, Status: status, Reason: reason, Message: message,
			LastProbeTime: metav1.NewTime(begun), LastTransitionTime: metav1.NewTime(begun)})
	}
}

// with adds a pod. Its UID is its name; by default it is a running, tracked, scheduled pod without an index.
func (o *observed) with(name string, options ...func(*Pod)) *observed {
	p := &Pod{UID: types.UID(name), Name: name, ResourceVersion: "1", Phase: corev1.PodRunning, Index: NoIndex, Finalizer: true, Scheduled: true, CreatedAt: begun}
	for _, option := range options {
		option(p)
	}
	o.Pods = append(o.Pods, p)
	return o
}

func index(i int32) func(*Pod) { return func(p *Pod) { p.Index = i } }

// failedPod makes the pod end with an exit code some time ago.
func failedPod(exit int32, ago time.Duration) func(*Pod) {
	return func(p *Pod) {
		p.Phase, p.FinishedAt = corev1.PodFailed, now.Add(-ago)
		p.Terminated = []failurepolicy.Container{{Name: "main", ExitCode: exit, Reason: "Error"}}
	}
}

func succeededPod(ago time.Duration) func(*Pod) {
	return func(p *Pod) { p.Phase, p.FinishedAt = corev1.PodSucceeded, now.Add(-ago) }
}

// deletedPod marks the pod as being deleted since some time ago; it has not ended.
func deletedPod(ago time.Duration) func(*Pod) {
	return func(p *Pod) { p.Deleting, p.FinishedAt = true, now.Add(-ago) }
}

// counts sets the failure counts of the pod's index before it.
func counts(failures, ignored int32) func(*Pod) {
	return func(p *Pod) { p.Failures, p.Ignored = failures, ignored }
}

func untracked(p *Pod) { p.Finalizer = false }
func ready(p *Pod)     { p.Ready, p.ReadySince = true, begun }

func (o *observed) compute() Plan { return Compute(o.Observation, o.config) }

// planText returns the writes of a plan, on one line, without times.
func planText(plan Plan) string {
	var parts []string
	if s := plan.Status; s != nil && !plan.Merge {
		parts = append(parts, "status "+statusText(s))
	}
	for _, n := range plan.Create {
		text := "create"
		if n.Index != NoIndex {
			text += fmt.Sprintf(" %d", n.Index)
		}
		if n.PerIndex {
			text += fmt.Sprintf("(%d,%d)", n.Failures, n.Ignored)
		}
		parts = append(parts, text)
	}
	for _, list := range []struct {
		verb string
		refs []PodRef
	}{{"delete", plan.Delete}, {"release", plan.Release}, {"adopt", plan.Adopt}, {"disown", plan.Disown}} {
		names := []string{}
		for _, r := range list.refs {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		if len(names) > 0 {
			parts = append(parts, list.verb+" "+strings.Join(names, " "))
		}
	}
	if plan.RequeueAfter > 0 {
		parts = append(parts, fmt.Sprintf("after %v", plan.RequeueAfter))
	}
	return strings.Join(parts, "; ")
}

func statusText(s *batchv1.JobStatus) string {
	terminating, failedIndexes := "nil", ""
	if s.Terminating != nil {
		terminating = fmt.Sprint(*s.Terminating)
	}
	if s.FailedIndexes != nil {
		failedIndexes = fmt.Sprintf(" failedIndexes %q", *s.FailedIndexes)
	}
	text := fmt.Sprintf("active %d terminating %s succeeded %d failed %d completedIndexes %q%s", s.Active, terminating, s.Succeeded, s.Failed, s.CompletedIndexes, failedIndexes)
	if u := s.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		text += fmt.Sprintf(" uncounted %v %v", u.Succeeded, u.Failed)
	}
	for _, c := range s.Conditions {
		text += fmt.Sprintf(" %s=%s/%s", c.Type, c.Status, c.Reason)
	}
	return text
}

// want checks the writes of a plan.
func (o *observed) want(t *testing.T, text string) Plan {
	t.Helper()
	plan := o.compute()
	assert.Equal(t, planText(plan), text)
	return plan
}

// findings returns the findings of Compute as text.
func (o *observed) findings() string {
	plan := o.compute()
	return strings.Join(plan.Findings.Lines(now), "\n")
}

// names returns the names of pods.
func names(pods []*Pod) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

// stored changes the stored status.
func stored(change func(*batchv1.JobStatus)) func(*batchv1.Job) {
	return func(j *batchv1.Job) { change(&j.Status) }
}

// endedIndexes sets the completed and the failed indexes of the stored status.
func endedIndexes(completed string, succeeded int32, failed string) func(*batchv1.Job) {
	return stored(func(s *batchv1.JobStatus) {
		s.CompletedIndexes, s.Succeeded, s.FailedIndexes = completed, succeeded, ptr.To(failed)
	})
}

func backoffLimit(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n }
}

func maxFailedIndexes(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = &n }
}

func deadline(seconds int64) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
}

// onIndexes returns a successPolicy rule with succeededIndexes; onCount one with succeededCount.
func onIndexes(indexes string) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededIndexes: &indexes}
}

func onCount(n int32) batchv1.SuccessPolicyRule { return batchv1.SuccessPolicyRule{SucceededCount: &n} }
