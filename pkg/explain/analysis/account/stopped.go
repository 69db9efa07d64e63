package account

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// A controller deletes the pods of a Job that fails, is suspended, or runs too many, and counts them as failed. These pods
// did not fail on their own, and often they no longer exist when the Job is explained.

// addStopped adds the pods that were deleted while they ran, at most as many as are unexplained.
func (a *Accounting) addStopped(in *facts.Facts, fs *failures.Failures) {
	if a.Unexplained == 0 || !in.PodsRead {
		return
	}
	add := func(c explain.Cause) {
		if c.Count = a.explainStopped(&a.Stopped, c.Count, c.IsStopped()); c.Count > 0 {
			a.Causes = append(a.Causes, c)
		}
	}
	for _, c := range stoppedCauses(in, fs) {
		add(c)
	}
	failed := fs.PodNames()
	for _, p := range in.Terminating {
		if !failed[p.Name] && isCountedEarly(in, p) {
			c := goneCause(endings.OfPod(p, fs.EventEnds))
			c.Source, c.Count, c.Pods = explain.SourcePods, 1, []string{p.Name}
			add(c)
		}
	}
	for _, c := range killedCauses(in, fs.EventEnds, a.Unexplained) {
		add(c)
	}
	if reason := a.stopReason(in, fs); reason != "" && a.Unexplained <= jobspec.Parallelism(in.Spec) {
		c := stoppedCause(reason)
		c.Source, c.Count = explain.SourceCondition, a.Unexplained
		add(c)
	}
	SortCauses(a.Causes)
}

// stopReason returns why the controller stopped pods that nothing shows anymore, "" if it may not have: a Job that has failed stops
// its pods. Events tell them from failed pods that were deleted later; a list, which has no events about deletions, assumes
// that failed pods are all there if some are, and that restarts left none if they count.
func (a *Accounting) stopReason(in *facts.Facts, fs *failures.Failures) explain.StopReason {
	switch {
	case in.Decision.EndedBy == explain.EndedByDeadline:
		return explain.StoppedAtDeadline
	case in.Listed && in.Decision.Fails() && (fs.Own > 0 || fs.Restarts.MayHaveFailedJob):
		return explain.StoppedAtEnd
	}
	return ""
}

// conditionCause returns the cause that the condition's message reports for the pod that a rule matched.
func conditionCause(in *facts.Facts) explain.Cause {
	of := &in.Decision
	c := failures.CauseOf(&cause.Cause{
		Failure: of.MatchedPod.Failure(), Rule: of.Rule, RuleName: of.RuleName, Action: batchv1.PodFailurePolicyActionFailJob,
	}, "")
	c.Source, c.Count, c.Pods, c.Last = explain.SourceCondition, 1, []string{of.MatchedPod.Name}, explain.TimeOf(of.Since)
	return c
}

// stoppedCause returns the cause of pods that were deleted while they ran, by the Job's controller if there is a reason, else by others.
func stoppedCause(reason explain.StopReason) explain.Cause {
	c := failures.CauseOf(&cause.Cause{Failure: cause.Failure{DeletedRunning: true}, Rule: failurepolicy.NoRule}, "")
	c.Stopped, c.Consequence = reason, reason == explain.StoppedAtDeadline || reason == explain.StoppedAtEnd
	return c
}

// stoppedCauses returns the pods that the controller deleted according to events, and terminating pods that are already
// counted, by the reason for the deletion.
func stoppedCauses(in *facts.Facts, fs *failures.Failures) (causes []explain.Cause) {
	known := fs.PodNames() // the pods that already have a cause
	add := func(reason explain.StopReason, source explain.CauseSource, pod string, n int32) {
		if known[pod] {
			return
		}
		place := slices.IndexFunc(causes, func(c explain.Cause) bool { return c.Stopped == reason })
		if place < 0 {
			place = len(causes)
			causes = append(causes, stoppedCause(reason))
			causes[place].Source = source
		}
		c := &causes[place]
		if c.Count += n; pod == "" {
			return
		}
		if known[pod] = true; len(c.Pods) < explain.MaxExamples {
			c.Pods = append(c.Pods, pod)
		}
	}
	for _, p := range in.Terminating {
		if !p.Finalizer && failures.IsConsequence(in, p) {
			add(in.StopReason(p.DeletedAt), explain.SourcePods, p.Name, 1)
		}
	}
	for i := range in.Deletions {
		d, pod := &in.Deletions[i], ""
		if d.Count == 1 {
			pod = d.Pods[0]
		}
		add(in.StopReason(d.At), explain.SourceEvents, pod, d.Count)
	}
	return causes
}

// killedCauses returns the causes of killedPods, grouped by their Ending; unexplained is the number of failures without a cause.
func killedCauses(in *facts.Facts, ends map[string]endings.PodEnd, unexplained int32) []explain.Cause {
	var causes []explain.Cause
	for _, pod := range killedPods(in, ends, unexplained) {
		w := ends[pod]
		same := func(c explain.Cause) bool { return ptr.Deref(c.Ending, meaning.Ending{}) == w.Ending }
		i := slices.IndexFunc(causes, same)
		if i < 0 {
			i = len(causes)
			causes = append(causes, goneCause(w))
		}
		c := &causes[i]
		if c.Count++; c.Count <= explain.MaxExamples {
			c.Pods = append(c.Pods, pod)
		}
	}
	return causes
}

// isCountedEarly reports whether the status counts a terminating pod as failed before it has ended, which its controller shows by
// removing the finalizer: others deleted the pod, and podReplacementPolicy is TerminatingOrFailed.
func isCountedEarly(in *facts.Facts, p *input.Pod) bool {
	if !p.IsTerminating() || p.Finalizer || in.Decision.Decided() || in.Job.DeletionTimestamp != nil || in.StopReason(p.DeletedAt) != explain.StoppedExcess {
		return false
	}
	at, _ := in.DeletedByController(p.Name, p.DeletedAt)
	return at.IsZero() && in.EventsRead && in.NamesDeletions()
}

// goneCause returns the cause of pods that only events still show.
func goneCause(w endings.PodEnd) explain.Cause {
	c := stoppedCause("")
	switch w.Kind {
	case meaning.EndProbe, meaning.EndPostStart, meaning.EndRejected, meaning.EndPodDeadline: // Nothing deleted them.
		c = explain.Cause{Ended: explain.Ended{Container: w.Container}}
	}
	if w.Kind != "" {
		failures.EndWith(&c, w.Ending, w.Message)
	}
	if w.Kind == meaning.EndProbe || w.Kind == meaning.EndPostStart {
		c.Meaning = words.KilledExitGone
	}
	c.Source = explain.SourceEvents
	return c
}

// killedPods returns pods that no longer exist and were ended by a kubelet or by another actor than the Job's controller. A
// kubelet's event about a container that will be restarted does not show an end.
func killedPods(in *facts.Facts, ends map[string]endings.PodEnd, unexplained int32) []string {
	seen := map[string]bool{}
	for name, p := range facts.PodsOfEvents(&in.Input) {
		seen[name] = p != nil
	}
	for i := range in.Deletions {
		for _, pod := range in.Deletions[i].Pods {
			seen[pod] = true
		}
	}
	var gone []string
	removed := map[string]bool{}
	for i := range in.Events {
		switch e := &in.Events[i]; {
		case e.Pod == "" || seen[e.Pod]:
		case isEnd(in, e):
			seen[e.Pod] = true
			gone = append(gone, e.Pod)
		case ends[e.Pod].IsRemoved():
			removed[e.Pod] = true
		}
	}
	// Succeeded pods disappear with their nodes, too, so these pods are added only if all of them can have failed.
	maps.DeleteFunc(removed, func(pod string, _ bool) bool { return seen[pod] })
	if int32(len(gone)+len(removed)) <= unexplained {
		gone = append(gone, slices.Sorted(maps.Keys(removed))...)
	}
	return gone
}

// isEnd reports whether the event shows the end of its pod before the outcome of the Job was decided: afterwards the Job's
// controller deletes pods. Events with an ending of their own also count in the same second, because the controller causes none.
func isEnd(in *facts.Facts, e *input.Event) bool {
	decided := in.Decision.Decided()
	if _, is := endings.StoppedContainer(e); is {
		return !decided || e.First.Before(in.Decision.Since)
	}
	end, _ := endings.OfEvent(e)
	return end != nil && (!decided || !e.First.After(in.Decision.Since))
}
