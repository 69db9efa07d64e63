package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// ending is how what is known of a pod ends.
type ending uint8

const (
	// endedItself: its containers exited, or the pod failed as a whole.
	endedItself ending = iota
	// removed: somebody other than the controller deleted or evicted it, which does not happen to the next one.
	removed
	// stopped: the controller deleted it, or it still ran when the Job was observed. How it would have
	// ended is not known.
	stopped
	// unseen: it is gone, and how it ended is to be found out.
	unseen
)

// attempt is what one pod did.
type attempt struct {
	name string
	// created is when, after the creation of the Job.
	created time.Duration
	act     sim.Act
	ending  ending
	// known is how long after its creation it is known what the pod did.
	known time.Duration
	// assumed reports whether the pod is gone, so that how it ended is a guess.
	assumed bool
}

// signature groups attempts that ended for the same cause.
func (a *attempt) signature() string {
	text := fmt.Sprint(a.ending, a.act.FailReason, a.act.Ends)
	for _, c := range a.act.Conditions {
		text += string(c.Type + "=" + corev1.PodConditionType(c.Status))
	}
	return text
}

func (a *attempt) succeeded() bool {
	return a.ending == endedItself && a.act.FailReason == "" && !hasFailed(a.act.Ends)
}

// Model is how the pods of a Job behave: it implements sim.Behavior. The verb simulate runs other Jobs
// with it.
type Model struct {
	// attempts are by completion index (reconcile.NoIndex in a NonIndexed Job), in the order of creation.
	attempts map[int32][]attempt
	// typical is what most pods did that ended by themselves.
	typical attempt
	// next is what followed an attempt in the same index, by its signature.
	next map[string]attempt
}

// margin is how much longer a stopped pod would have run at least: in a replay, it may be stopped later.
const margin = 5 * time.Second

func newModel(attempts map[int32][]attempt) *Model {
	m := &Model{attempts: attempts, next: map[string]attempt{}}
	m.typical = typicalOf(attempts)
	for _, index := range slices.Sorted(maps.Keys(attempts)) {
		list := attempts[index]
		for i := range list {
			if i > 0 && list[i].ending == endedItself {
				m.next[list[i-1].signature()] = list[i]
			}
			m.complete(&list[i])
		}
	}
	return m
}

// complete lets a stopped pod continue like a typical one, or forever if none ended by itself.
func (m *Model) complete(a *attempt) {
	if a.ending != stopped || a.act.Run != 0 {
		return
	}
	a.act.Run = sim.Forever
	if m.typical.act.Run != sim.Forever {
		a.act.Run = max(a.known-a.act.Delay+margin, m.typical.act.Run)
		a.act.Ends, a.act.FailReason = m.typical.act.Ends, m.typical.act.FailReason
	}
}

// typicalOf returns the median of the largest group of attempts with the same cause. Of each index, the
// last attempt counts.
func typicalOf(attempts map[int32][]attempt) attempt {
	groups := map[string][]attempt{}
	for index, list := range attempts {
		for i := range list {
			last := i == len(list)-1 || list[i+1].ending != endedItself
			if list[i].ending == endedItself && !list[i].assumed && (last || index == reconcile.NoIndex) {
				groups[list[i].signature()] = append(groups[list[i].signature()], list[i])
			}
		}
	}
	best := attempt{act: sim.Act{Run: sim.Forever, TerminateExit: exitTerminated}, ending: stopped}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		group := groups[key]
		if len(group) > size || len(group) == size && group[0].succeeded() {
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

// lookup returns what the pod does. It reports whether that is what a pod in its place did; otherwise it is
// an estimate.
func (m *Model) lookup(pod sim.PodKey) (attempt, bool) {
	list := m.attempts[pod.Index]
	if pod.Nth <= len(list) {
		return list[pod.Nth-1], !list[pod.Nth-1].assumed
	}
	if len(list) == 0 || pod.Index == reconcile.NoIndex {
		return m.typical, false
	}
	last := list[len(list)-1]
	if last.ending != removed {
		return last, false
	}
	if next, found := m.next[last.signature()]; found {
		return next, false
	}
	return m.typical, false
}
