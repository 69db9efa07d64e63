package whatif

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Recording collects the contents of successive reports on one Job. A report on another Job restarts it.
type Recording struct {
	last   *explain.Report
	pods   map[string]*input.Pod
	events []input.Event
}

// Add adds the next report.
func (r *Recording) Add(report *explain.Report) {
	if r.last == nil || r.last.Job.UID != report.Job.UID {
		*r = Recording{pods: map[string]*input.Pod{}}
	}
	at := report.ObservedAt.Time
	if r.last != nil && r.last.Job.Suspend != report.Job.Suspend {
		reason := map[bool]string{true: eventSuspended, false: eventResumed}[report.Job.Suspend]
		r.events = append(r.events, input.Event{Reason: reason, Count: 1, First: at, Last: at})
	}
	r.last = report
	for i := range report.Pods {
		p := recordedPod(&report.Pods[i])
		if p.Deleting {
			p.DeletedAt = cmp.Or(p.FinishedAt, at)
			if before, known := r.pods[p.Name]; known && !before.DeletedAt.IsZero() {
				p.DeletedAt = before.DeletedAt
			}
		}
		r.pods[p.Name] = p
	}
}

// Input returns the collected data about the Job; its Job is nil without any report.
func (r *Recording) Input() input.Input {
	if r.last == nil {
		return input.Input{}
	}
	in := input.Input{Now: r.last.ObservedAt.Time, PodsRead: r.last.PodsOmitted == 0, Events: r.events, Gaps: r.last.Gaps}
	for _, rule := range ptr.Deref(r.last.FailurePolicy, explain.FailurePolicy{}).Rules {
		in.RuleNames = append(in.RuleNames, rule.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		in.Pods = append(in.Pods, r.pods[name])
	}
	in.Job = r.job()
	return in
}

func (r *Recording) job() *batchv1.Job {
	j, counts := &r.last.Job, &r.last.Counts
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace, Name: j.Name, CreationTimestamp: *cmp.Or(j.Created, &r.last.ObservedAt)}}
	spec, s := &job.Spec, &job.Status
	copyFields(j, spec)
	copyFields(r.last.FailurePolicy, &spec.PodFailurePolicy)
	if policy := r.last.SuccessPolicy; policy != nil {
		spec.SuccessPolicy = &batchv1.SuccessPolicy{}
		for _, rule := range policy.Rules {
			one := batchv1.SuccessPolicyRule{SucceededCount: &rule.Need}
			if rule.Of != "" {
				one.SucceededIndexes = &rule.Of
			}
			spec.SuccessPolicy.Rules = append(spec.SuccessPolicy.Rules, one)
		}
	}
	spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicy(j.RestartPolicy), Containers: r.containers(spec.PodFailurePolicy)}
	s.Active, s.Succeeded, s.Failed = counts.Active, counts.Succeeded, counts.Failed
	copyFields(r.last.Conditions, &s.Conditions)
	for i, c := range r.last.Conditions {
		s.Conditions[i].LastTransitionTime = ptr.Deref(c.Since, metav1.Time{})
	}
	if indexes := r.last.Indexes; indexes != nil {
		s.CompletedIndexes = indexes.Completed
		if spec.BackoffLimitPerIndex != nil {
			s.FailedIndexes = &indexes.Failed
		}
	}
	return job
}

// copyFields copies the fields of a report that have the names of the API.
func copyFields(from, to any) {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		panic("a report has fields of the API: " + err.Error())
	}
}

// containers returns the containers that failed, or that rules name: reports do not name others.
func (r *Recording) containers(policy *batchv1.PodFailurePolicy) (list []corev1.Container) {
	names := map[string]bool{}
	for _, p := range r.pods {
		for _, c := range p.Containers {
			names[c.Name] = true
		}
	}
	for _, rule := range ptr.Deref(policy, batchv1.PodFailurePolicy{}).Rules {
		if rule.OnExitCodes != nil && rule.OnExitCodes.ContainerName != nil {
			names[*rule.OnExitCodes.ContainerName] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, corev1.Container{Name: name})
	}
	return list
}

// recordedPod returns the part of a pod that an observer needs, without the time of its deletion.
func recordedPod(info *explain.PodInfo) *input.Pod {
	p := &input.Pod{
		Node: info.Node, StartedAt: ptr.Deref(info.Started, metav1.Time{}).Time, Unusual: &input.Unusual{Grace: defaultGrace},
		Pod: reconcile.Pod{
			Name: info.Name, Phase: corev1.PodPhase(info.Phase), Scheduled: info.Node != "", Restarts: info.Restarts,
			Index: ptr.Deref(info.Index, reconcile.NoIndex), Deleting: info.GraceEnds != nil,
			CreatedAt: ptr.Deref(info.Created, metav1.Time{}).Time, FinishedAt: ptr.Deref(info.Ended, metav1.Time{}).Time,
		},
	}
	f := info.Failure
	if f == nil {
		return p
	}
	p.StatusReason, p.Deleting = f.PodReason, p.Deleting || f.Deleting || f.DeletedRunning
	if f.Condition != "" {
		p.Conditions = []failurepolicy.Condition{{Type: f.Condition, Status: corev1.ConditionTrue}}
	}
	if f.Condition == corev1.DisruptionTarget {
		p.Disruption = cmp.Or(f.ConditionReason, string(f.Condition)) // Reports of earlier versions do not have the reason.
	}
	if f.Container != "" {
		p.Containers = []input.Container{{Name: f.Container, Ended: true, ExitCode: f.ExitCode, Reason: f.Reason, EndedAt: p.FinishedAt}}
		p.Terminated = []failurepolicy.Container{{Name: f.Container, ExitCode: f.ExitCode, Reason: f.Reason}}
	}
	return p
}

// defaultGrace is the grace period of a pod that does not set one.
const defaultGrace = 30 * time.Second
