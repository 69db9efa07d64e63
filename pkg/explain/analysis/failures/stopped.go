package failures

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// A controller deletes the pods of a Job that fails, that is suspended, or that runs too many, and counts them as failed.
// These pods did not fail on their own, and often they are gone when the Job is explained.

// deletionMessage is that of the event SuccessfulDelete, of the built-in controller and of ours.
var deletionMessage = regexp.MustCompile(`Deleted (?:pod: (\S+)|(\d+) pods: )`)

// stoppedPods are the pods that the controller deleted, by the reason.
type stoppedPods struct {
	// known are pods that need no other cause.
	known  map[string]bool
	causes []explain.Cause
}

// stoppedCauses are the pods that events show to be deleted by the controller, and those that still terminate and are
// counted already.
func stoppedCauses(in *facts.Facts, fs *Failures) []explain.Cause {
	s := stoppedPods{known: map[string]bool{}}
	for i := range fs.All {
		s.known[fs.All[i].Pod.Name] = true
	}
	for _, p := range in.Terminating {
		if !p.Finalizer && isConsequence(in, p) {
			s.add(in.StopReason(p.DeletedAt), explain.SourcePods, p.Name, 1)
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		if m := deletionMessage.FindStringSubmatch(e.Message); m != nil && e.Pod == "" && e.Reason == "SuccessfulDelete" {
			n, _ := strconv.ParseInt("0"+m[2], 10, 32)
			s.add(in.StopReason(e.First), explain.SourceEvents, m[1], max(int32(n), 1))
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
	if len(c.Pods) < explain.MaxExamples {
		c.Pods = append(c.Pods, pod)
	}
}

// killedPods are pods that are gone, whose containers a kubelet stopped because something other than the Job's controller
// deleted the pod. The message of the kubelet differs if a probe has failed.
func killedPods(in *facts.Facts) []string {
	seen := map[string]bool{}
	for _, p := range in.Pods {
		seen[p.Name] = true
	}
	for i := range in.Events {
		if m := deletionMessage.FindStringSubmatch(in.Events[i].Message); m != nil && in.Events[i].Pod == "" {
			seen[m[1]] = true
		}
	}
	var gone []string
	for i := range in.Events {
		e := &in.Events[i]
		late := in.Outcome.Decided() && !e.First.Before(in.Outcome.Since)
		if e.Pod == "" || e.Reason != "Killing" || seen[e.Pod] || late || !strings.HasPrefix(e.Message, "Stopping container ") {
			continue
		}
		seen[e.Pod] = true
		gone = append(gone, e.Pod)
	}
	return gone
}
