package whatif

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// The reasons of events about a Job.
const (
	eventSuspended = "Suspended"
	eventResumed   = "Resumed"
)

// readEvents reads the events about the Job: the only data about pods that are gone.
func (o *observer) readEvents() {
	for i := range o.in.Events {
		e := &o.in.Events[i]
		switch {
		case e.Reason == "SuccessfulCreate":
			o.recordTimes(o.created, e)
		case e.Reason == "SuccessfulDelete":
			o.recordTimes(o.stopped, e)
		case e.Reason == eventSuspended || e.Reason == eventResumed:
			o.toggles = append(o.toggles, toggle{between(o.begun, e.First), e.Reason == eventSuspended})
		case e.Failed != nil:
			o.failures[e.Failed.Pod] = e
		}
	}
	slices.SortStableFunc(o.toggles, func(a, b toggle) int {
		if a.at == b.at && a.suspend != b.suspend { // The last one leads to the Job's present state.
			return map[bool]int{true: 1, false: -1}[a.suspend == jobspec.IsSuspended(&o.in.Job.Spec)]
		}
		return cmp.Compare(a.at, b.at)
	})
}

// recordTimes records the time of an event for the pods that it names.
func (o *observer) recordTimes(into map[string]time.Time, e *input.Event) {
	for _, word := range strings.FieldsFunc(e.Message, func(r rune) bool { return r == ' ' || r == ',' }) {
		if _, ok := indexInName(o.in.Job, word); ok {
			into[word] = e.First
		}
	}
}

// indexInName returns the completion index in the name of a pod. It reports whether a pod of the Job may have that
// name.
func indexInName(job *batchv1.Job, name string) (int32, bool) {
	rest, ok := strings.CutPrefix(name, job.Name+"-")
	number, _, hasMore := strings.Cut(rest, "-")
	if !ok || !jobspec.IsIndexed(&job.Spec) {
		return reconcile.NoIndex, ok && !hasMore
	}
	index, err := strconv.ParseInt(number, 10, 32)
	return int32(index), hasMore && err == nil
}

// addGonePods adds the pods that are named only in events.
func (o *observer) addGonePods(all map[int32][]attempt) {
	names := map[string]time.Duration{}
	for name := range o.stopped {
		names[name] = 0
	}
	for name, at := range o.created {
		names[name] = between(o.begun, at)
	}
	for i := range o.in.Pods {
		delete(names, o.in.Pods[i].Name)
	}
	o.podsKnown = len(o.in.Pods) + len(names)
	for name, created := range names {
		index, _ := indexInName(o.in.Job, name)
		all[index] = append(all[index], attempt{name: name, created: created, ending: unknownEnd, act: sim.Act{TerminateExit: exitTerminated}})
		if _, stopped := o.stopped[name]; stopped && reconcile.TrueCondition(o.in.Job, batchv1.JobFailureTarget) != nil {
			o.uncounted--
		}
	}
}

// tracelessPods describes the pods that left no trace, neither a pod nor an event, by index. As there may be 2^31 indexes,
// it has only four outcomes: succeeded, stopped, and failed with the failure counted or ignored.
type tracelessPods struct {
	completed, failed                    indexset.Set
	succeeded, counted, ignored, stopped attempt
	// lastCounted is the highest index with a counted failure.
	lastCounted int32
}

// tracelessPods returns nil if the outcome of the Job is not decided, or if it has no indexes.
func (o *observer) tracelessPods(all map[int32][]attempt) *tracelessPods {
	if !jobspec.IsIndexed(&o.in.Job.Spec) || o.decided.IsZero() {
		return nil
	}
	v := &tracelessPods{completed: o.completed, failed: o.failed, lastCounted: reconcile.NoIndex}
	traceless := o.failed.Difference(o.completed).Difference(indexset.Of(slices.Collect(maps.Keys(all))...))
	for run := range traceless.Intervals() {
		if o.uncounted <= 0 {
			break
		}
		counted := int32(min(run.Len(), int(o.uncounted)))
		v.lastCounted = run.First + counted - 1
		o.uncounted -= counted
	}
	ended := between(o.begun, o.decided)
	act := sim.Act{TerminateExit: exitTerminated}
	v.stopped = attempt{act: act, ending: stopped, assumed: true, known: ended}
	v.succeeded = attempt{act: act, ending: endedItself, assumed: true, known: max(time.Millisecond, ended-time.Second)}
	v.succeeded.act.Run = v.succeeded.known
	v.counted = attempt{act: act, assumed: true}
	v.counted.remove(max(time.Second, ended))
	v.ignored = v.counted
	v.ignored.act.Conditions = evictionConditions()
	return v
}

// attemptOf returns what the pods of an index did.
func (v *tracelessPods) attemptOf(index int32) *attempt {
	switch {
	case v.completed.Contains(index):
		return &v.succeeded
	case !v.failed.Contains(index):
		return &v.stopped
	case index <= v.lastCounted:
		return &v.counted
	}
	return &v.ignored
}

// evictionConditions returns the condition of a pod whose failure a rule usually ignores.
func evictionConditions() []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

// setGoneEnd adds how a pod that is gone ended. until is when the next pod of its index was created, zero if there was
// none.
func (o *observer) setGoneEnd(a *attempt, index int32, until time.Time) {
	created := o.begun.Add(a.created)
	if at, ok := o.stopped[a.name]; ok {
		a.ending, a.known = stopped, between(created, at)
		return
	}
	a.ending = endedItself
	switch failed := o.failures[a.name]; {
	case o.completed.Contains(index) && until.IsZero():
		a.assumed = true
		a.known = max(time.Millisecond, between(created, cmp.Or(o.decided, o.in.Now))-time.Second)
		a.act.Run = a.known
	case failed != nil:
		o.setFailedEnd(a, failed)
	default:
		a.assumed = true
		o.setRemovedEnd(a, cmp.Or(until, o.decided, o.in.Now), !until.IsZero())
	}
}

// setRemovedEnd adds the end of a pod that a user or the eviction API removed without a trace. It counted as a failure if
// the status has more failures than are known. Otherwise a rule ignored it, as is usual for evictions.
func (o *observer) setRemovedEnd(a *attempt, end time.Time, replaced bool) {
	counted := o.uncounted > 0
	if counted {
		o.uncounted--
	} else {
		a.act.Conditions = evictionConditions()
	}
	if replaced && counted {
		end = end.Add(-reconcile.DefaultConfig().Backoff.Base)
	}
	a.remove(max(time.Second, between(o.begun.Add(a.created), end)))
}

// setFailedEnd adds an end that only an event reports.
func (o *observer) setFailedEnd(a *attempt, e *input.Event) {
	f := e.Failed.Failure
	a.known = max(time.Millisecond, between(o.begun.Add(a.created), e.First))
	if f.Condition != "" {
		a.act.Conditions = []corev1.PodCondition{{Type: f.Condition, Status: corev1.ConditionTrue}}
	}
	switch {
	case f.IsDeletion() || f.Condition == corev1.DisruptionTarget:
		a.remove(a.known)
		return
	case f.Container == "":
		a.act.FailReason = cmp.Or(f.PodReason, unknownReason)
	default:
		a.act.Ends = []sim.ContainerEnd{{Name: f.Container, Exit: f.ExitCode, Reason: f.Reason}}
	}
	a.act.Run = a.known
}
