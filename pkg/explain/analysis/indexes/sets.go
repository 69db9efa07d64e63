package indexes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// sets are the indexes by state; each is in one set.
type sets struct {
	completed, failed, active, terminating, backingOff, pending, unknown indexset.Set
	// ready is the part of active whose pod is ready. outOfRange are indexes beyond the completions, which are in no other set.
	ready, outOfRange indexset.Set
	// notStarted, retrying and willNotComplete are the parts of pending.
	notStarted, retrying, willNotComplete indexset.Set
}

// setsOf sorts the indexes into sets: an index goes into the first set below that it qualifies for. decisive failed with the
// Job.
func setsOf(in *facts.Facts, decisive indexset.Set) sets {
	var s sets
	total := ptr.Deref(in.Spec.Completions, 0)
	s.completed, s.failed = in.Plan.Findings.CompletedIndexes, in.Plan.Findings.FailedIndexes
	s.failed = s.failed.Union(decisive.Intersection(indexset.Below(total)).Difference(s.completed))
	active, beyond := indexesBelow(in.Active, total)
	terminating, more := indexesBelow(in.Terminating, total)
	ready, _ := indexesBelow(slices.DeleteFunc(slices.Clone(in.Active), func(p *input.Pod) bool { return !p.Ready }), total)
	waiting := BackoffOf(in).Indexes
	rest := indexset.Below(total).Difference(s.completed).Difference(s.failed)
	take := func(indexes indexset.Set) indexset.Set {
		taken := indexes.Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(indexset.Of(active...))
	s.ready = indexset.Of(ready...).Intersection(s.active)
	s.outOfRange = indexset.Of(slices.Concat(beyond, more)...)
	s.backingOff = take(waiting) // Its pod may still be terminating, if the next pod does not wait for its end.
	s.terminating = take(indexset.Of(terminating...))
	if in.PodsRead {
		s.pending = rest
	} else {
		s.unknown = rest
	}

	// The pending indexes by the reason why they have no pod.
	if in.Decision.Decided() {
		s.willNotComplete = s.pending
		return s
	}
	var failed []int32
	for _, p := range in.Terminal {
		if p.Phase == corev1.PodFailed && p.Index >= 0 {
			failed = append(failed, p.Index)
		}
	}
	s.retrying = s.pending.Intersection(indexset.Of(failed...))
	s.notStarted = s.pending.Difference(s.retrying)
	return s
}

// indexesBelow returns the indexes of pods, and separately indexes beyond the completions: after an elastic Indexed Job was
// scaled down, their pods are about to be deleted.
func indexesBelow(pods []*input.Pod, completions int32) (within, beyond []int32) {
	within = make([]int32, 0, len(pods))
	for _, p := range pods {
		switch {
		case p.Index < 0:
		case p.Index < completions:
			within = append(within, p.Index)
		default:
			beyond = append(beyond, p.Index)
		}
	}
	return within, beyond
}

// rankedSet is the set of indexes in one state.
type rankedSet struct {
	state string
	set   indexset.Set
}

// ranked returns the states in the order in which indexes are listed one by one.
func (s *sets) ranked() []rankedSet {
	return []rankedSet{
		{explain.IndexFailed, s.failed},
		{explain.IndexBackingOff, s.backingOff},
		{explain.IndexActive, s.active},
		{explain.IndexTerminating, s.terminating},
		{explain.IndexPending, s.pending},
		{explain.IndexUnknown, s.unknown},
		{explain.IndexCompleted, s.completed},
	}
}
