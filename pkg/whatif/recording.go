package whatif

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Recording collects what the reports on one Job show, one after the other. A report on another Job begins anew.
type Recording struct {
	last   *explain.Report
	pods   map[string]*recordedPod
	events []explain.Event
}

// recordedPod is a pod as it was seen last, and when it was first seen to terminate.
type recordedPod struct {
	info    explain.PodInfo
	deleted time.Time
}

// Add adds the next report.
func (r *Recording) Add(report *explain.Report) {
	if r.last == nil || r.last.Job.UID != report.Job.UID {
		*r = Recording{pods: map[string]*recordedPod{}}
	}
	at := report.ObservedAt.Time
	if r.last != nil && r.last.Job.Suspend != report.Job.Suspend {
		reason := map[bool]string{true: eventSuspended, false: eventResumed}[report.Job.Suspend]
		r.events = append(r.events, explain.Event{Reason: reason, Count: 1, First: at, Last: at})
	}
	r.last = report
	for i := range report.Pods {
		p := r.pods[report.Pods[i].Name]
		if p == nil {
			p = &recordedPod{}
			r.pods[report.Pods[i].Name] = p
		}
		p.info = report.Pods[i]
		if p.info.GraceEnds != nil && p.deleted.IsZero() {
			p.deleted = at
		}
	}
}

// Input returns what is known of the Job; its Job is nil without any report.
func (r *Recording) Input() explain.Input {
	if r.last == nil {
		return explain.Input{}
	}
	in := explain.Input{Now: r.last.ObservedAt.Time, Job: r.job(), PodsRead: true, Events: r.events, Gaps: r.last.Gaps}
	if policy := r.last.FailurePolicy; policy != nil {
		for i := range policy.Rules {
			in.RuleNames = append(in.RuleNames, policy.Rules[i].Name)
		}
	}
	for _, p := range r.pods {
		in.Pods = append(in.Pods, p.pod())
	}
	slices.SortFunc(in.Pods, func(a, b explain.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return in
}

func (r *Recording) job() *batchv1.Job {
	j := &r.last.Job
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace, Name: j.Name, CreationTimestamp: *cmp.Or(j.Created, &r.last.ObservedAt)}}
	job.Spec = batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.CompletionMode(j.CompletionMode)), Completions: j.Completions, Parallelism: j.Parallelism,
		BackoffLimit: j.BackoffLimit, BackoffLimitPerIndex: j.BackoffLimitPerIndex, MaxFailedIndexes: j.MaxFailedIndexes,
		ActiveDeadlineSeconds: j.ActiveDeadlineSeconds, PodReplacementPolicy: ptr.To(batchv1.PodReplacementPolicy(j.PodReplacementPolicy)),
		Suspend: &j.Suspend, PodFailurePolicy: r.failurePolicy(), SuccessPolicy: r.successPolicy(),
	}
	if j.ManagedBy != "" {
		job.Spec.ManagedBy = &j.ManagedBy
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicy(j.RestartPolicy), Containers: r.containers(job.Spec.PodFailurePolicy)}
	r.addStatus(job)
	return job
}

func (r *Recording) failurePolicy() *batchv1.PodFailurePolicy {
	if r.last.FailurePolicy == nil {
		return nil
	}
	policy := &batchv1.PodFailurePolicy{}
	for _, rule := range r.last.FailurePolicy.Rules {
		policy.Rules = append(policy.Rules, batchv1.PodFailurePolicyRule{
			Action: batchv1.PodFailurePolicyAction(rule.Action), OnExitCodes: rule.OnExitCodes, OnPodConditions: rule.OnPodConditions,
		})
	}
	return policy
}

func (r *Recording) successPolicy() *batchv1.SuccessPolicy {
	if r.last.SuccessPolicy == nil {
		return nil
	}
	policy := &batchv1.SuccessPolicy{}
	for _, rule := range r.last.SuccessPolicy.Rules {
		one := batchv1.SuccessPolicyRule{SucceededCount: &rule.Need}
		if rule.Of != "" {
			one.SucceededIndexes = &rule.Of
		}
		policy.Rules = append(policy.Rules, one)
	}
	return policy
}

// containers are those that failed, or that rules name: reports do not name others.
func (r *Recording) containers(policy *batchv1.PodFailurePolicy) (list []corev1.Container) {
	add := func(name string) {
		if name != "" && !slices.ContainsFunc(list, func(c corev1.Container) bool { return c.Name == name }) {
			list = append(list, corev1.Container{Name: name})
		}
	}
	for _, p := range r.pods {
		if p.info.Failure != nil {
			add(p.info.Failure.Container)
		}
	}
	if policy != nil {
		for _, rule := range policy.Rules {
			if rule.OnExitCodes != nil {
				add(ptr.Deref(rule.OnExitCodes.ContainerName, ""))
			}
		}
	}
	slices.SortFunc(list, func(a, b corev1.Container) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (r *Recording) addStatus(job *batchv1.Job) {
	s := &job.Status
	s.Active, s.Succeeded, s.Failed = r.last.Counts.Active, r.last.Counts.Succeeded, r.last.Counts.Failed
	for _, c := range r.last.Conditions {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{
			Type: batchv1.JobConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, LastTransitionTime: *cmp.Or(c.Since, &metav1.Time{}),
		})
	}
	if indexes := r.last.Indexes; indexes != nil {
		s.CompletedIndexes = indexes.Completed
		if job.Spec.BackoffLimitPerIndex != nil {
			s.FailedIndexes = &indexes.Failed
		}
	}
}

// pod is what an observer needs of it.
func (p *recordedPod) pod() explain.Pod {
	info := &p.info
	out := explain.Pod{Attempt: info.Attempt, Node: info.Node}
	out.Name, out.Phase, out.Scheduled, out.Restarts = info.Name, corev1.PodPhase(info.Phase), info.Node != "", info.Restarts
	out.Index = ptr.Deref(info.Index, reconcile.NoIndex)
	for at, from := range map[*time.Time]*metav1.Time{&out.CreatedAt: info.Created, &out.StartedAt: info.Started, &out.FinishedAt: info.Ended} {
		if from != nil {
			*at = from.Time
		}
	}
	if f := info.Failure; f != nil {
		out.FailReason = f.PodReason
		if f.Condition != "" {
			out.Conditions = []failurepolicy.Condition{{Type: f.Condition, Status: corev1.ConditionTrue}}
		}
		if f.Container != "" {
			out.Containers = []explain.Container{{Name: f.Container, Ended: true, ExitCode: f.ExitCode, Reason: f.Reason, EndedAt: out.FinishedAt}}
			out.Terminated = []failurepolicy.Container{{Name: f.Container, ExitCode: f.ExitCode, Reason: f.Reason}}
		}
		out.Deleting = f.Deleting || f.DeletedRunning
	}
	if out.Deleting = out.Deleting || !p.deleted.IsZero(); out.Deleting {
		out.DeletedAt, out.Grace = cmp.Or(p.deleted, out.FinishedAt), defaultGrace
		if len(out.Conditions) > 0 {
			out.Disruption = string(out.Conditions[0].Type) // The report does not have its reason.
		}
	}
	return out
}

// defaultGrace is a grace period that a Job has unless it asks for another.
const defaultGrace = 30 * time.Second
