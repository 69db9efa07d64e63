package analysis

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// A controller deletes the pods of a Job that fails, that is suspended, or that runs too many,
// and counts them as failed. These pods did not fail on their own, and often they are gone
// before anybody looks.

// deletionMessage is that of the event SuccessfulDelete, of the built-in controller and of ours.
var deletionMessage = regexp.MustCompile(`Deleted (?:pod: (\S+)|(\d+) pods: )`)

// addStopped adds the pods that the Job's controller deleted, at most as many as are untold.
// It returns how many are untold still.
func (a *analysis) addStopped(causes []explain.Cause, untold int32) ([]explain.Cause, int32) {
	if untold <= 0 || !a.PodsRead {
		return causes, untold
	}
	for _, c := range a.stopped() {
		if c.Count = min(c.Count, untold); c.Count > 0 {
			untold -= c.Count
			causes = append(causes, c)
		}
	}
	if gone := a.deletedRunning(); len(gone) > 0 && untold > 0 {
		c := stoppedCause("")
		c.Source, c.Count, c.Pods = explain.SourceEvents, min(int32(len(gone)), untold), gone[:min(len(gone), maxExamples)]
		causes, untold = append(causes, c), untold-c.Count
	}
	if untold > 0 && untold <= jobspec.Parallelism(a.spec) && a.outcome.reason == batchv1.JobReasonDeadlineExceeded {
		c := stoppedCause(explain.StoppedAtDeadline)
		c.Source, c.Count = explain.SourceCondition, untold
		causes, untold = append(causes, c), 0
	}
	sortCauses(causes)
	return causes, untold
}

// stoppedPods are the pods that the controller deleted, by the reason.
type stoppedPods struct {
	// known are pods that need no other cause.
	known  map[string]bool
	causes []explain.Cause
}

// stopped are the pods that events show to be deleted by the controller, and those that still
// terminate and are counted already.
func (a *analysis) stopped() []explain.Cause {
	s := stoppedPods{known: map[string]bool{}}
	for i := range a.failures {
		s.known[a.failures[i].pod.Name] = true
	}
	for _, p := range a.terminating {
		if !p.Finalizer && a.isConsequence(p) {
			s.add(a.stopReason(p.DeletedAt), explain.SourcePods, p.Name, 1)
		}
	}
	for i := range a.Events {
		e := &a.Events[i]
		if m := deletionMessage.FindStringSubmatch(e.Message); m != nil && e.Pod == "" && e.Reason == "SuccessfulDelete" {
			n, _ := strconv.ParseInt("0"+m[2], 10, 32)
			s.add(a.stopReason(e.First), explain.SourceEvents, m[1], max(int32(n), 1))
		}
	}
	return s.causes
}

// add counts n pods, or the one that is named.
func (s *stoppedPods) add(reason explain.StopReason, source explain.CauseSource, pod string, n int32) {
	if s.known[pod] {
		return
	}
	place := slices.IndexFunc(s.causes, func(c explain.Cause) bool { return c.Stopped == reason })
	if place < 0 {
		place = len(s.causes)
		s.causes = append(s.causes, stoppedCause(reason))
		s.causes[place].Source = source
	}
	c := &s.causes[place]
	if c.Count += n; pod == "" {
		return
	}
	s.known[pod] = true
	if len(c.Pods) < maxExamples {
		c.Pods = append(c.Pods, pod)
	}
}

// deletedRunning are pods that are gone, whose containers a kubelet stopped because somebody
// deleted the pod: it says so in other words if a probe has failed.
func (a *analysis) deletedRunning() []string {
	seen := map[string]bool{}
	for _, p := range a.pods {
		seen[p.Name] = true
	}
	for i := range a.Events {
		if m := deletionMessage.FindStringSubmatch(a.Events[i].Message); m != nil && a.Events[i].Pod == "" {
			seen[m[1]] = true
		}
	}
	var gone []string
	for i := range a.Events {
		e := &a.Events[i]
		late := a.outcome.decided() && !e.First.Before(a.outcome.since)
		if e.Pod == "" || e.Reason != "Killing" || seen[e.Pod] || late || !strings.HasPrefix(e.Message, "Stopping container ") {
			continue
		}
		seen[e.Pod] = true
		gone = append(gone, e.Pod)
	}
	return gone
}

// stopReason is why the controller deleted a pod at that time. Times of the API server are in
// seconds.
func (a *analysis) stopReason(at time.Time) explain.StopReason {
	suspended := reconcile.TrueCondition(a.job, batchv1.JobSuspended)
	switch {
	case a.outcome.decided() && !at.Before(a.outcome.since.Add(-time.Second)):
		if a.outcome.reason == batchv1.JobReasonDeadlineExceeded {
			return explain.StoppedAtDeadline
		}
		return explain.StoppedAtEnd
	case suspended != nil && !at.Before(suspended.LastTransitionTime.Add(-time.Second)),
		suspended == nil && ptr.Deref(a.spec.Suspend, false): // The pods are deleted before the condition is set.
		return explain.StoppedSuspended
	}
	return explain.StoppedExcess
}

// stopReasonOf is why the controller deleted a pod that failed by that; "" if it failed on its
// own, or if something else may have deleted it.
func (a *analysis) stopReasonOf(f *failure) explain.StopReason {
	p := f.pod
	if !f.consequence && (!p.Deleting || p.EndedBeforeDeletion() || p.Disruption != "") {
		return ""
	}
	reason := a.stopReason(p.DeletedAt)
	if !f.consequence && reason != explain.StoppedSuspended {
		return ""
	}
	return reason
}

// stopReasonOfAll is that of all the failures, "" if it is not the same for all.
func (a *analysis) stopReasonOfAll(failures []*failure) explain.StopReason {
	reason := a.stopReasonOf(failures[0])
	if slices.ContainsFunc(failures, func(f *failure) bool { return a.stopReasonOf(f) != reason }) {
		return ""
	}
	return reason
}

// undoLastDeletions sets when pods that the Job stopped were deleted. The kubelet deletes a pod once
// more after its end, which moves the deletion behind the end: it would look as if the pod had failed first.
func (a *analysis) undoLastDeletions() {
	for i, p := range a.pods {
		last := p.Deleting && p.Phase == corev1.PodFailed && p.Grace == 0 && p.FinishedAt.Before(p.DeletedAt)
		if last && p.Signaled() && a.stopReason(p.FinishedAt) != explain.StoppedExcess {
			stopped, unusual := *p, *p.Unusual
			stopped.Unusual, unusual.DeletedAt = &unusual, p.FinishedAt
			a.pods[i] = &stopped
		}
	}
}

func stoppedCause(reason explain.StopReason) explain.Cause {
	c := causeValue(&cause.Cause{Failure: cause.Failure{DeletedRunning: true}, Rule: failurepolicy.NoRule}, "")
	c.Stopped, c.Consequence = reason, reason == explain.StoppedAtDeadline || reason == explain.StoppedAtEnd
	return c
}
