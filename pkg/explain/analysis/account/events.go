package account

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// addEvents adds the causes of pods that no longer exist, from the controller's events. It adds at most the number of
// unexplained failures: an event may refer to a pod that still exists and ended differently after it was counted.
func (a *Accounting) addEvents(in *facts.Facts, fs *failures.Failures, inPods map[cause.Cause]countedCause) {
	withoutDeletions, failed := failures.ExplainedWithoutDeletions(in, fs), fs.PodNames()
	for i := range in.Events {
		e := &in.Events[i]
		if !failures.IsAboutFailures(e) {
			continue
		}
		c := eventCause(in, e, withoutDeletions)
		if r := e.Failed; r != nil && r.IsDeletion() && !c.IsStopped() {
			a.addDeleted(in, e, &c)
		}
		known, seen := countedInPods(e, inPods)
		// A pod that the event names, and that has another cause by now, is counted there.
		moved := !seen && e.Failed != nil && failed[e.Failed.Pod]
		if moved {
			c.Count--
		}
		if c.Count -= known.pods; c.Action != string(batchv1.PodFailurePolicyActionIgnore) {
			c.Count = a.explainStopped(&a.FromEvents, c.Count, c.IsStopped())
		}
		switch {
		case c.Count <= 0:
		case seen:
			a.Causes[known.place].Count += c.Count
		default:
			if c.Failure != nil && c.Stopped == "" && !c.Consequence {
				addEnding(&c, c.Failure, fs.EventEnds)
			}
			if moved {
				c.Pods = nil
			}
			a.Causes = append(a.Causes, c)
		}
	}
	SortCauses(a.Causes)
}

// countedInPods returns the cause that an event reports if pods that exist have it, too.
func countedInPods(e *input.Event, inPods map[cause.Cause]countedCause) (c countedCause, found bool) {
	if r := e.Failed; r != nil && !r.Others {
		c, found = inPods[r.Cause]
	}
	return c, found
}

// addDeleted adds those pods of a cause from an event that the Job's controller deleted, as its other events show, and
// leaves the rest to the cause.
func (a *Accounting) addDeleted(in *facts.Facts, e *input.Event, c *explain.Cause) {
	at, all := in.DeletedByController(e.Failed.Pod, e.First)
	if at.IsZero() {
		return
	}
	stopped := *c
	stopped.Stopped = in.StopReason(at)
	if stopped.Count = a.explainStopped(&a.FromEvents, min(c.Count, all), true); stopped.Count > 0 {
		a.Causes = append(a.Causes, stopped)
	}
	c.Count, c.Pods = c.Count-stopped.Count, nil
}

// eventCause returns the cause that an event reports, or its verbatim message. withoutDeletions is whether failures other
// than deletions explain the end of the Job.
func eventCause(in *facts.Facts, e *input.Event, withoutDeletions bool) explain.Cause {
	c := explain.Cause{Text: e.Message}
	switch r := e.Failed; {
	case r != nil && r.Others:
		c.Text = words.OtherCauses
	case r != nil:
		c = failures.CauseOf(&r.Cause, "")
		c.Consequence = in.Decision.Decided() && r.IsDeletion() && !e.First.Before(in.Decision.Since) && withoutDeletions
		if reason := in.StopReason(e.First); reason == explain.StoppedSuspended && r.IsDeletion() {
			c.Stopped = reason
		}
		if r.Pod != "" {
			c.Pods = []string{r.Pod}
		}
	}
	c.Source, c.Count, c.First, c.Last = explain.SourceEvents, max(e.Count, 1), explain.TimeOf(e.First), explain.TimeOf(e.Last)
	return c
}

// addEnding adds the end of pods that no longer exist to the cause from an event of the controller. It is the end
// of the pod that the event names, if at least as many pods as the event counts ended in the same way; or else the end by
// the event's reason of the condition DisruptionTarget.
func addEnding(c *explain.Cause, of *cause.Failure, ends map[string]endings.PodEnd) {
	if len(c.Pods) == 0 {
		return
	}
	w := ends[c.Pods[0]]
	alike := int32(0)
	for _, other := range ends {
		if other.Ending == w.Ending {
			alike++
		}
	}
	if w.Fits(of) && alike >= c.Count {
		failures.EndWith(c, w.Ending, w.Message)
		return
	}
	if of.ConditionReason != "" {
		w = endings.OfDisruption(of.ConditionReason, "")
		failures.EndWith(c, w.Ending, "")
	}
}
