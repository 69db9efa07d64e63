package whatif

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// trace is what the events of a Job have about its pods: of those that are gone, that is all there is.
type trace struct {
	// created and stopped are when a controller created and deleted a pod, by its name. Controllers
	// report the names of a few pods at a time: firstCreated is for the others.
	created, stopped map[string]time.Time
	firstCreated     time.Time
	failures         []*explain.Event
	// toggles are when the Job was suspended and resumed.
	toggles []toggle
}

// The reasons of events about a Job.
const (
	eventSuspended = "Suspended"
	eventResumed   = "Resumed"
)

type toggle struct {
	at      time.Time
	suspend bool
}

func readTrace(in *explain.Input) trace {
	t := trace{created: map[string]time.Time{}, stopped: map[string]time.Time{}}
	for i := range in.Events {
		e := &in.Events[i]
		switch {
		case e.Pod != "":
		case e.Reason == "SuccessfulCreate":
			t.note(t.created, in.Job, e)
			if t.firstCreated.IsZero() || e.First.Before(t.firstCreated) {
				t.firstCreated = e.First
			}
		case e.Reason == "SuccessfulDelete":
			t.note(t.stopped, in.Job, e)
		case e.Reason == eventSuspended || e.Reason == eventResumed:
			t.toggles = append(t.toggles, toggle{e.First, e.Reason == eventSuspended})
			if e.Count > 1 {
				t.toggles = append(t.toggles, toggle{e.Last, e.Reason == eventSuspended})
			}
		case e.Failed != nil:
			t.failures = append(t.failures, e)
		}
	}
	t.toggles = inTurn(t.toggles, jobspec.IsSuspended(&in.Job.Spec))
	slices.SortStableFunc(t.failures, func(a, b *explain.Event) int { return a.First.Compare(b.First) })
	return t
}

// namedPods is how many pods an event names at most.
const namedPods = 3

// stoppedAt is how many pods events of that second name as deleted by the controller.
func (t *trace) stoppedAt(at time.Time) (n int) {
	for _, then := range t.stopped {
		if then.Equal(at) {
			n++
		}
	}
	return n
}

func (t *trace) suspendedAt(at time.Time) (suspended bool) {
	for _, toggle := range t.toggles {
		if !toggle.at.After(at) {
			suspended = toggle.suspend
		}
	}
	return suspended
}

// inTurn orders toggles by time. Those of the same second are in turn, and the last one leads to what the Job
// is now.
func inTurn(toggles []toggle, suspended bool) []toggle {
	slices.SortStableFunc(toggles, func(a, b toggle) int { return a.at.Compare(b.at) })
	for i := len(toggles) - 1; i > 0; i-- {
		if before := &toggles[i-1]; toggles[i].suspend != suspended && before.at.Equal(toggles[i].at) {
			*before, toggles[i] = toggles[i], *before
		}
		suspended = !toggles[i].suspend
	}
	return toggles
}

// note notes the pods that an event names.
func (t *trace) note(into map[string]time.Time, job *batchv1.Job, e *explain.Event) {
	for _, word := range strings.FieldsFunc(e.Message, func(r rune) bool { return r == ' ' || r == ',' }) {
		if _, ok := indexInName(job, word); ok {
			into[word] = e.First
		}
	}
}

// indexInName returns the completion index in the name of a pod. It reports whether a pod of the Job may
// have that name.
func indexInName(job *batchv1.Job, name string) (int32, bool) {
	rest, ok := strings.CutPrefix(name, job.Name+"-")
	if !ok || !jobspec.IsIndexed(&job.Spec) {
		return reconcile.NoIndex, ok && !strings.Contains(rest, "-")
	}
	number, _, ok := strings.Cut(rest, "-")
	index, err := strconv.ParseInt(number, 10, 32)
	return int32(index), ok && err == nil && index >= 0
}

// gone returns the pods that only events name, by index.
func (o *observer) gone() map[int32][]attempt {
	there := map[string]bool{}
	for i := range o.in.Pods {
		there[o.in.Pods[i].Name] = true
	}
	names := map[string]time.Time{}
	for name := range o.trace.stopped {
		names[name] = o.trace.firstCreated
	}
	for name, at := range o.trace.created {
		names[name] = at
	}
	lost := map[int32][]attempt{}
	for name, at := range names {
		if index, _ := indexInName(o.in.Job, name); !there[name] {
			a := attempt{name: name, created: max(0, at.Sub(o.begun)), act: sim.Act{TerminateExit: exitTerminated}}
			lost[index] = append(lost[index], a)
		}
	}
	return lost
}

// endGone adds how a pod that is gone ended. until is when the next pod of its index was created, zero if
// there was none.
func (o *observer) endGone(a *attempt, index int32, until time.Time) {
	created := o.begun.Add(a.created)
	if at, ok := o.trace.stopped[a.name]; ok {
		a.ending, a.known = stopped, max(0, at.Sub(created))
		return
	}
	a.assumed = true
	failed := o.failureOf(a.name)
	switch {
	case o.completed.Contains(index) && until.IsZero():
		a.known = max(time.Millisecond, cmp.Or(o.decided, o.in.Now).Sub(created)-time.Second)
		a.act.Run = a.known
	case failed != nil:
		a.assumed = failed.Failed.Pod != a.name
		o.endFailed(a, failed)
	case until.IsZero() && o.decided.IsZero():
		a.ending, a.known = stopped, o.in.Now.Sub(created)
	default:
		o.endVanished(a, index, cmp.Or(until, o.decided), !until.IsZero())
	}
}

// endVanished adds the end of a pod that somebody deleted or evicted, which nothing reports: it was counted as a
// failure if the status has more of them than are known. Otherwise a rule has ignored it, as evictions usually are.
func (o *observer) endVanished(a *attempt, index int32, end time.Time, replaced bool) {
	counted := o.uncounted > 0 || indexesOf(o.in.Job.Status.FailedIndexes).Contains(index)
	if counted {
		o.uncounted--
	} else {
		a.act.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	if replaced && counted {
		end = end.Add(-reconcile.DefaultConfig().Backoff.Base)
	}
	a.known = max(time.Second, end.Sub(o.begun.Add(a.created)))
	a.remove(a.known)
}

// failuresWithoutPod returns how many failures the status has besides those of the pods that are known.
func (o *observer) failuresWithoutPod(known map[int32][]attempt) int32 {
	n := o.in.Job.Status.Failed
	failed := reconcile.TrueCondition(o.in.Job, batchv1.JobFailureTarget) != nil
	for i := range o.in.Pods {
		p := &o.in.Pods[i]
		if p.Phase == corev1.PodFailed && o.actionOf(p) != batchv1.PodFailurePolicyActionIgnore {
			n--
		}
	}
	for _, list := range known {
		for i := range list {
			if _, stopped := o.trace.stopped[list[i].name]; stopped && failed {
				n--
			}
		}
	}
	return n
}

// failureOf returns the event about the failure of a pod, or of pods that include it.
func (o *observer) failureOf(name string) *explain.Event {
	var one *explain.Event
	for _, e := range o.trace.failures {
		switch {
		case e.Failed.Pod == name:
			return e
		case e.Count > 1 && one == nil:
			one = e
		}
	}
	return one
}

// endFailed adds an end that only an event reports.
func (o *observer) endFailed(a *attempt, e *explain.Event) {
	f := e.Failed.Failure
	a.known = max(time.Millisecond, e.First.Sub(o.begun.Add(a.created)))
	if f.Condition != "" {
		a.act.Conditions = []corev1.PodCondition{{Type: f.Condition, Status: corev1.ConditionTrue}}
	}
	if f.Deleting || f.DeletedRunning || f.Condition == corev1.DisruptionTarget {
		a.act.TerminateExit = cmp.Or(f.ExitCode, exitTerminated)
		a.remove(a.known)
		return
	}
	a.act.Run = a.known
	if f.Container == "" {
		a.act.FailReason = cmp.Or(f.PodReason, unknownReason)
		return
	}
	a.act.Ends = []sim.ContainerEnd{{Name: f.Container, Exit: f.ExitCode, Reason: f.Reason}}
}
