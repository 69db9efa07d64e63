// Package facts prepares the input before any conclusions: the objects that were read, sorted; the changes that the
// decision core (reconcile.Review) would write next, and why; and how far the outcome of the Job is decided. Facts do not
// change: later stages read them, and none adds to them.
package facts

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Facts are the prepared input about a Job.
type Facts struct {
	// Input are the objects that were read, in an order that does not depend on how they were read: Pods by index and name,
	// Events by time.
	input.Input
	// Spec is the spec of the Job.
	Spec *batchv1.JobSpec
	// Active, Terminating and Terminal are the Pods by state, in their order: most questions are about few pods.
	Active, Terminating, Terminal []*input.Pod
	// FailedPods is the number of Pods in phase Failed, TrackedPods the number with the tracking finalizer.
	FailedPods, TrackedPods int32
	// Uncounted are the pods that the status has recorded and does not count yet, with the recorded phase.
	Uncounted map[types.UID]corev1.PodPhase
	// Plan holds the changes that the decision core would write next. If the pods could not be read, it has no operations,
	// and its Findings are about the Job alone.
	Plan reconcile.Plan
	// Names are the names of the podFailurePolicy rules, Matches the policy's matches by pod.
	Names   rulename.Names
	Matches map[types.UID]*failurepolicy.Match
	// Decision is how the Job ends as far as that is decided.
	Decision Decision
	// Deletions are the pods that the Job's controller deleted, as its events show.
	Deletions []Deletion
}

// Of returns the facts about the Job of the input, which it does not change.
func Of(given input.Input) *Facts {
	in := &Facts{Input: given, Spec: &given.Job.Spec, Uncounted: uncountedPods(given.Job), Decision: DecisionOf(given.Job)}

	// Events about earlier pods of the same name are left out, for example of an earlier Job with the same name.
	pods := PodsOfEvents(&given)
	in.Events = slices.DeleteFunc(slices.Clone(given.Events), func(e input.Event) bool {
		p := pods[e.Pod]
		return p != nil && e.PodUID != "" && p.UID != "" && p.UID != e.PodUID
	})
	slices.SortFunc(in.Events, func(x, y input.Event) int {
		return cmp.Or(x.Last.Compare(y.Last), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message))
	})

	in.Deletions = deletions(in.Events)

	// The pods by state.
	in.Pods = sortedPods(given.Pods)
	undoLastDeletions(in)
	in.Active = make([]*input.Pod, 0, len(in.Pods))
	observed := make([]*reconcile.Pod, 0, len(in.Pods))
	for _, p := range in.Pods {
		switch {
		case p.IsActive():
			in.Active = append(in.Active, p)
		case p.IsTerminating():
			in.Terminating = append(in.Terminating, p)
		default:
			in.Terminal = append(in.Terminal, p)
		}
		if p.Phase == corev1.PodFailed {
			in.FailedPods++
		}
		if p.Finalizer {
			in.TrackedPods++
		}
		observed = append(observed, &p.Pod)
	}

	// The next changes of the decision core.
	config := reconcile.DefaultConfig()
	config.SchedulingDone = in.SchedulingDone()
	in.Plan = reconcile.Review(reconcile.Observation{Job: in.Job, Pods: observed, PodsUnknown: !in.PodsRead, RuleNames: in.RuleNames, Now: in.Now}, config)
	in.Names = in.Plan.Findings.RuleNames
	in.Matches = make(map[types.UID]*failurepolicy.Match, len(in.Plan.Findings.Verdicts))
	for _, v := range in.Plan.Findings.Verdicts {
		in.Matches[v.Pod.UID] = v.Match
	}
	in.Decision = in.Decision.WithRule(in.Job, in.Names)
	return in
}

// PodsOfEvents returns the pods that events are about, by name, nil for pods that do not exist. It is small: a huge Job has
// many more pods than events.
func PodsOfEvents(given *input.Input) map[string]*input.Pod {
	pods := map[string]*input.Pod{}
	for i := range given.Events {
		if name := given.Events[i].Pod; name != "" {
			pods[name] = nil
		}
	}
	if len(pods) == 0 {
		return nil
	}
	for _, p := range given.Pods {
		if _, about := pods[p.Name]; about {
			pods[p.Name] = p
		}
	}
	return pods
}

// uncountedPods returns the pods in status.uncountedTerminatedPods, with their recorded phase.
func uncountedPods(job *batchv1.Job) map[types.UID]corev1.PodPhase {
	u := job.Status.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	pods := make(map[types.UID]corev1.PodPhase, len(u.Succeeded)+len(u.Failed))
	for _, uid := range u.Succeeded {
		pods[uid] = corev1.PodSucceeded
	}
	for _, uid := range u.Failed {
		pods[uid] = corev1.PodFailed
	}
	return pods
}

// CountedFailures returns how many failures the status counts, or has recorded to count next.
func (in *Facts) CountedFailures() int32 {
	n := in.Job.Status.Failed
	if u := in.Job.Status.UncountedTerminatedPods; u != nil {
		n += int32(len(u.Failed))
	}
	return n
}

// NotRecorded reports whether the status does not account for an ended pod yet: the pod has its finalizer, and is not
// recorded to be counted.
func (in *Facts) NotRecorded(p *input.Pod) bool {
	return p.Finalizer && in.Uncounted[p.UID] == ""
}

// LogOf returns the last lines of a container's log, nil if it was not read.
func (in *Facts) LogOf(pod, container string) []string {
	if tail := in.TailOf(pod, container); tail != nil {
		return tail.Lines
	}
	return nil
}

// StepOf returns the Step of a container's log.
func StepOf(in *Facts, pod, container string) string {
	if tail := in.TailOf(pod, container); tail != nil {
		return tail.Step
	}
	return ""
}

// ErrorLog returns the last lines of the log of a container, up to the error from which later ones follow; nil if it was not read.
func ErrorLog(in *Facts, pod string, c *input.Container) []string {
	of := meaning.Container{Arguments: Arguments(in, c.Name)}
	return of.WithoutConsequences(c.ExitCode, in.LogOf(pod, c.Name))
}

// TailOf returns the end of a container's log, which may be empty; nil if it was not read.
func (in *Facts) TailOf(pod, container string) *input.LogTail {
	return lists.First(in.Logs, func(t *input.LogTail) bool { return t.Pod == pod && t.Container == container })
}

// LastJobEvent returns the latest event about the Job with this reason, or nil.
func (in *Facts) LastJobEvent(reason string) *input.Event {
	return input.LastEvent(in.Events, func(e *input.Event) bool { return e.Pod == "" && e.Reason == reason })
}
