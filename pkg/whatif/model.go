package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// ending is the kind of end of the known part of a pod's life.
type ending uint8

const (
	// endedItself: its containers exited, or the pod failed as a whole.
	endedItself ending = iota
	// removed: another client than the controller deleted or evicted it, which does not happen to the next pod.
	removed
	// stopped: the controller deleted it, or it was still running when the Job was observed. How it would have ended is
	// unknown.
	stopped
	// unknownEnd: it is gone, and setGoneEnd has yet to determine how it ended.
	unknownEnd
)

// attempt is the behavior of one pod.
type attempt struct {
	name string
	// created is the time of the pod's creation, relative to the Job's.
	created time.Duration
	act     sim.Act
	ending  ending
	// known is the time after the pod's creation up to which its behavior is known.
	known time.Duration
	// assumed reports whether the pod is gone and its end is a guess.
	assumed bool
}

// Model is the behavior of a Job's pods; it implements sim.Behavior. The verb simulate runs other Jobs with it.
type Model struct {
	// attempts are by completion index (reconcile.NoIndex in a NonIndexed Job), in the order of creation.
	attempts map[int32][]attempt
	// traceless is the behavior of pods of other indexes; nil if it is unknown.
	traceless *tracelessPods
	// typical is the behavior of most pods that ended on their own.
	typical attempt
}

// margin is the minimum time that a stopped pod would have continued to run: in a replay, it may be stopped later.
const margin = 5 * time.Second

// newModel makes stopped pods continue like a typical one, or forever if none ended on its own.
func newModel(attempts map[int32][]attempt, gone *tracelessPods) *Model {
	m := &Model{attempts: attempts, traceless: gone, typical: typicalOf(attempts)}
	for _, list := range attempts {
		for i := range list {
			list[i].continueLike(&m.typical.act)
		}
	}
	if gone != nil {
		gone.stopped.continueLike(&m.typical.act)
	}
	return m
}

// continueLike sets what a stopped pod would have done otherwise.
func (a *attempt) continueLike(typical *sim.Act) {
	act := &a.act
	switch {
	case a.ending != stopped:
	case typical.Run == sim.Forever:
		act.Run = sim.Forever
	default:
		act.Run, act.Ends, act.FailReason = max(a.known-act.Delay+margin, typical.Run), typical.Ends, typical.FailReason
	}
}

// typicalOf returns the median of the largest group of attempts with the same cause. Of each index, only the last
// attempt counts.
func typicalOf(attempts map[int32][]attempt) attempt {
	groups := map[string][]attempt{}
	for index, list := range attempts {
		for i := range list {
			last := i == len(list)-1 || list[i+1].ending != endedItself
			if list[i].ending == endedItself && !list[i].assumed && (last || index == reconcile.NoIndex) {
				key := fmt.Sprint(list[i].act.Ends, list[i].act.FailReason) // The key of success sorts first.
				groups[key] = append(groups[key], list[i])
			}
		}
	}
	best := attempt{act: sim.Act{Run: sim.Forever, TerminateExit: exitTerminated}, ending: stopped}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if group := groups[key]; len(group) > size {
			slices.SortFunc(group, func(a, b attempt) int { return cmp.Or(cmp.Compare(a.act.Run, b.act.Run), cmp.Compare(a.name, b.name)) })
			best, size = group[len(group)/2], len(group)
		}
	}
	return best
}

// Act implements sim.Behavior.
func (m *Model) Act(pod sim.PodKey) *sim.Act {
	a, _ := m.lookup(pod)
	return &a.act
}

// lookup returns the behavior of the pod. It reports whether a pod in its place was observed; otherwise the behavior is
// an estimate.
func (m *Model) lookup(pod sim.PodKey) (attempt, bool) {
	list := m.attempts[pod.Index]
	if len(list) == 0 && m.traceless != nil {
		list = []attempt{*m.traceless.attemptOf(pod.Index)}
	}
	if pod.Nth <= len(list) {
		return list[pod.Nth-1], !list[pod.Nth-1].assumed
	}
	if len(list) == 0 || pod.Index == reconcile.NoIndex || list[len(list)-1].ending == removed {
		return m.typical, false
	}
	return list[len(list)-1], false
}
