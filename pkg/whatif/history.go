package whatif

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// History is a Job as it ran.
type History struct {
	// Job is the Job as it was observed. The names of its rules are in the annotation.
	Job *batchv1.Job
	// Model is the behavior of its pods.
	Model *Model
	// PodsKnown is the number of pods known to the Model.
	PodsKnown int
	// observed is when the Job was observed, and decided when its outcome was decided, both relative to its creation.
	observed, decided time.Duration
	// toggles suspend and resume the Job as its users did.
	toggles []toggle
	// maxWrites and maxPods limit a replay that may not end.
	maxWrites, maxPods int
}

// A replay has at most as many pods as are known, but at least leastPods, and writesPerPod writes for each: the
// completions of a Job may be unlimited. Each pod of a replay takes some 10 kB of memory.
const (
	writesPerPod = 20
	leastPods    = 16_000
)

// toggle sets spec.suspend at a time relative to the Job's creation.
type toggle struct {
	at      time.Duration
	suspend bool
}

// observer builds a History.
type observer struct {
	in    *input.Input
	begun time.Time
	// decided is the time when the outcome of the Job was decided, zero if it is undecided.
	decided           time.Time
	completed, failed indexset.Set
	// created and stopped are when the controller created and deleted pods, and failures are the events about failed
	// pods, by pod name.
	created, stopped map[string]time.Time
	failures         map[string]*input.Event
	toggles          []toggle
	podsKnown        int
	// uncounted is the number of failures in the status that are not explained by known pods.
	uncounted int32
}

// Observe returns the History of a Job from the data about it.
func Observe(in input.Input) *History {
	o := &observer{
		in: &in, begun: in.Job.CreationTimestamp.Time, uncounted: in.Job.Status.Failed,
		created: map[string]time.Time{}, stopped: map[string]time.Time{}, failures: map[string]*input.Event{},
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil && !c.LastTransitionTime.IsZero() {
			o.decided = c.LastTransitionTime.Time
		}
	}
	o.completed, o.failed = indexesOf(&in.Job.Status.CompletedIndexes), indexesOf(in.Job.Status.FailedIndexes)
	o.readEvents()
	names, _ := reconcile.RuleNames(in.Job, in.RuleNames)
	h := &History{
		// Times are in whole seconds: events of the last second have already happened.
		Job: in.Job.DeepCopy(), observed: between(o.begun, in.Now) + time.Second,
		decided: between(o.begun, o.decided), // 0 if the outcome is undecided.
		toggles: o.toggles,
	}
	attempts := o.attempts()
	h.Model = newModel(attempts, o.tracelessPods(attempts))
	metav1.SetMetaDataAnnotation(&h.Job.ObjectMeta, rulename.Annotation, rulename.Format(names))
	h.PodsKnown = o.podsKnown
	h.maxPods = max(h.PodsKnown, leastPods)
	h.maxWrites = writesPerPod * h.maxPods
	return h
}

// century is longer than any Job runs; the sum of a few does not overflow.
const maxDuration = 100 * 365 * 24 * time.Hour

// between returns the time from from to to: 0 if to was earlier, or if one of the times is unknown, and at most a
// century.
func between(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(0, min(to.Sub(from), maxDuration))
}

// attempts returns the attempts that pods and events report, by index, in order.
func (o *observer) attempts() map[int32][]attempt {
	all := map[int32][]attempt{}
	for _, p := range o.in.Pods {
		all[p.Index] = append(all[p.Index], o.attemptOf(p))
		if p.Phase == corev1.PodFailed && o.actionOf(p) != batchv1.PodFailurePolicyActionIgnore {
			o.uncounted--
		}
	}
	o.addGonePods(all)
	for _, index := range slices.Sorted(maps.Keys(all)) {
		list := all[index]
		slices.SortFunc(list, func(a, b attempt) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
		})
		for i := range list {
			if list[i].ending != unknownEnd {
				continue
			}
			var next time.Time // when a pod was created that may have replaced this one
			later := func(l attempt) bool { return l.created > list[i].created }
			if at := slices.IndexFunc(list, later); at >= 0 {
				next = o.begun.Add(list[at].created)
			}
			o.setGoneEnd(&list[i], index, next)
		}
	}
	return all
}

// stoppedByController reports whether the controller deleted the pod: there is an event about it, or the Job was ending
// by then.
func (o *observer) stoppedByController(name string, at time.Time) bool {
	_, created := o.created[name]
	_, stopped := o.stopped[name]
	// A pod with events that the controller deleted in the second in which the Job ended would have such an event.
	ended := at.After(o.decided) || at.Equal(o.decided) && (!created || !reconcile.IsFinished(o.in.Job))
	return stopped || ended && !o.decided.IsZero()
}

// exitTerminated is the exit code of a process that ends because of a deletion.
const exitTerminated = 143

// attemptOf returns the behavior of a pod.
func (o *observer) attemptOf(p *input.Pod) attempt {
	a := attempt{name: p.Name, created: between(o.begun, p.CreatedAt), known: between(p.CreatedAt, o.in.Now)}
	a.act.TerminateExit = exitTerminated
	for _, c := range p.Conditions {
		a.act.Conditions = append(a.act.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
	}
	if p.Restarts == 0 {
		a.act.Delay = between(p.CreatedAt, p.StartedAt)
	}
	o.addRestarts(&a, p)
	switch {
	case p.Deleting && !p.EndedBeforeDeletion():
		o.addDeletion(&a, p)
	case p.IsTerminal():
		a.known = between(p.CreatedAt, p.FinishedAt)
		o.addEnd(&a, p)
	default:
		a.ending, a.act.Unscheduled = stopped, p.Phase == corev1.PodPending
	}
	return a
}

// addEnd adds how a pod ended on its own.
func (o *observer) addEnd(a *attempt, p *input.Pod) {
	if p.Disruption != "" {
		a.ending = removed
	}
	a.act.Run = max(time.Millisecond, a.known-a.act.Delay)
	if p.Phase == corev1.PodFailed {
		a.act.Run += failureDelay
		for _, t := range p.Terminated {
			a.act.Ends = append(a.act.Ends, sim.ContainerEnd{Name: t.Name, Exit: t.ExitCode, Reason: t.Reason})
		}
		if !slices.ContainsFunc(a.act.Ends, func(e sim.ContainerEnd) bool { return e.Exit != 0 }) {
			a.act.FailReason, a.act.Ends = cmp.Or(p.StatusReason, unknownReason), nil
		}
	}
}

// failureDelay separates pods that ended within the same second: failures, which may end the Job, came last.
const failureDelay = 300 * time.Millisecond

// actionOf returns the action of the podFailurePolicy for a failed pod, empty if no rule matches.
func (o *observer) actionOf(p *input.Pod) batchv1.PodFailurePolicyAction {
	policy := o.in.Job.Spec.PodFailurePolicy
	if policy == nil {
		return ""
	}
	return failurepolicy.Evaluate(policy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, true).Action
}

// unknownReason is the reason of a failed pod that reports none.
const unknownReason = "Unknown"

// addDeletion adds the end of a pod by a deletion.
func (o *observer) addDeletion(a *attempt, p *input.Pod) {
	asked := between(p.CreatedAt, p.DeletedAt)
	a.act.Terminate = min(p.Grace, maxDuration) + time.Hour // The kubelet kills it when its grace period is over.
	if p.IsTerminal() {
		a.act.Terminate = between(p.DeletedAt, p.FinishedAt)
		a.act.TerminateExit = 0
		for _, t := range p.Terminated {
			a.act.TerminateExit = max(a.act.TerminateExit, t.ExitCode)
		}
		if p.Phase == corev1.PodFailed && a.act.TerminateExit == 0 {
			a.act.TerminateExit = exitTerminated
		}
	}
	a.known, a.ending = asked, stopped
	if !o.stoppedByController(p.Name, p.DeletedAt) {
		a.remove(asked)
	}
}

// remove makes another client than the controller delete the pod after a time.
func (a *attempt) remove(after time.Duration) {
	a.ending, a.known = removed, after
	a.act.Run, a.act.RemovedAfter = sim.Forever, max(time.Millisecond, after)
}

// addRestarts adds the restarts of containers: their number, and the time of the last.
func (o *observer) addRestarts(a *attempt, p *input.Pod) {
	a.act.Restarts = p.Restarts
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Before && c.Restarts > 0 {
			a.act.RestartsAfter = max(a.act.RestartsAfter, between(p.CreatedAt, c.EndedAt))
		}
	}
}
