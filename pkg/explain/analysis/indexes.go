package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// endedIndexes are the indexes that have succeeded and that have failed, none in both,
// with those that the next status will have.
func (a *analysis) endedIndexes() (completed, failed indexset.Set) {
	return a.plan.Findings.CompletedIndexes, a.plan.Findings.FailedIndexes
}

// indexSets are the indexes by state; each is in one set.
type indexSets struct {
	completed, failed, active, terminating, backingOff, pending, unknown indexset.Set
	// ready is the part of active whose pod is ready. outOfRange are beyond the
	// completions, and in no other set.
	ready, outOfRange indexset.Set
	// notStarted, retrying and willNotComplete are the parts of pending.
	notStarted, retrying, willNotComplete indexset.Set
}

func (a *analysis) indexSets() indexSets {
	var s indexSets
	s.completed, s.failed = a.endedIndexes()
	total := ptr.Deref(a.spec.Completions, 0)
	active, beyond := indexesBelow(a.active, total)
	terminating, more := indexesBelow(a.terminating, total)
	ready, _ := indexesBelow(slices.DeleteFunc(slices.Clone(a.active), func(p *explain.Pod) bool { return !p.Ready }), total)
	_, waiting := a.indexBackoff()
	rest := indexset.Below(total).Difference(s.completed).Difference(s.failed)
	take := func(indexes indexset.Set) indexset.Set {
		taken := indexes.Intersection(rest)
		rest = rest.Difference(taken)
		return taken
	}
	s.active = take(indexset.Of(active...))
	s.ready = indexset.Of(ready...).Intersection(s.active)
	s.outOfRange = indexset.Of(slices.Concat(beyond, more)...)
	s.backingOff = take(waiting) // Its pod may terminate still, where that is enough for the next one.
	s.terminating = take(indexset.Of(terminating...))
	if a.PodsRead {
		s.pending = rest
	} else {
		s.unknown = rest
	}
	a.dividePending(&s)
	return s
}

// dividePending tells apart why indexes have no pod.
func (a *analysis) dividePending(s *indexSets) {
	if a.outcome.decided() {
		s.willNotComplete = s.pending
		return
	}
	var failed []int32
	for _, p := range a.terminal {
		if p.Phase == corev1.PodFailed && p.Index >= 0 {
			failed = append(failed, p.Index)
		}
	}
	s.retrying = s.pending.Intersection(indexset.Of(failed...))
	s.notStarted = s.pending.Difference(s.retrying)
}

// indexesBelow are the indexes of pods, and those that are beyond the completions: the Job
// was scaled down (elastic Indexed Jobs), and such a pod is on its way out.
func indexesBelow(pods []*explain.Pod, completions int32) (within, beyond []int32) {
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

// rankedSet are the indexes of one state.
type rankedSet struct {
	state string
	set   indexset.Set
}

// ranked are the states in the order in which indexes are listed one by one.
func (s *indexSets) ranked() []rankedSet {
	return []rankedSet{
		{explain.IndexFailed, s.failed}, {explain.IndexBackingOff, s.backingOff}, {explain.IndexActive, s.active}, {explain.IndexTerminating, s.terminating},
		{explain.IndexPending, s.pending}, {explain.IndexUnknown, s.unknown}, {explain.IndexCompleted, s.completed},
	}
}

// indexStates is nil for a NonIndexed Job.
func (a *analysis) indexStates() *explain.Indexes {
	if !a.indexed() {
		return nil
	}
	s := a.indexSets()
	out := &explain.Indexes{
		Total:     ptr.Deref(a.spec.Completions, 0),
		Completed: s.completed.String(), Failed: s.failed.String(), Active: s.active.String(),
		Ready: s.ready.String(), OutOfRange: s.outOfRange.String(),
		Terminating: s.terminating.String(), BackingOff: s.backingOff.String(), Pending: s.pending.String(), Unknown: s.unknown.String(),
		CompletedCount: int32(s.completed.Len()), FailedCount: int32(s.failed.Len()), ActiveCount: int32(s.active.Len()),
		NotStarted: s.notStarted.String(), Retrying: s.retrying.String(), WillNotComplete: s.willNotComplete.String(),
		NotStartedCount: int32(s.notStarted.Len()), RetryingCount: int32(s.retrying.Len()), WillNotCompleteCount: int32(s.willNotComplete.Len()),
		ReadyCount: int32(s.ready.Len()), OutOfRangeCount: int32(s.outOfRange.Len()),
		TerminatingCount: int32(s.terminating.Len()), BackingOffCount: int32(s.backingOff.Len()), PendingCount: int32(s.pending.Len()), UnknownCount: int32(s.unknown.Len()),
	}
	out.Details, out.DetailsOmitted = a.indexDetails(&s)
	return out
}

// indexWait is an index whose latest pod failed, and that gets no other before until.
type indexWait struct {
	index int32
	until time.Time
}

// indexWaits are the indexes in back-off, in order.
func (a *analysis) indexWaits() []indexWait {
	var out []indexWait
	for _, w := range a.plan.Findings.AwaitReplacement {
		if a.Now.Before(w.Until) {
			out = append(out, indexWait{w.Pod.Index, w.Until})
		}
	}
	return out
}

// indexBackoff is when the first of the indexes in back-off may be retried, and which they are.
func (a *analysis) indexBackoff() (time.Time, indexset.Set) {
	var first time.Time
	var waiting []int32
	for _, w := range a.indexWaits() {
		waiting = append(waiting, w.index)
		if first.IsZero() || w.until.Before(first) {
			first = w.until
		}
	}
	return first, indexset.Of(waiting...)
}

// roomForRetries reports whether an index gets its next pod as soon as its back-off has ended: no
// other pod has to end before.
func (a *analysis) roomForRetries() bool { return a.plan.Findings.RetryHeld }

const (
	// maxIndexDetails is how many indexes are listed one by one, unless all pods are.
	maxIndexDetails = 100
	// maxPodless is how long that list may get by indexes without pods, of which there may be 2^31.
	maxPodless = 10_000
)

// indexDetails collects what is known of single indexes.
type indexDetails struct {
	*analysis
	sets *indexSets
	// infos are in no order, and have no State before sorted; places is where that of an
	// index is.
	infos  []explain.IndexInfo
	places map[int32]int
}

// detailsInFocus are those of the indexes that the report is about.
func (a *analysis) detailsInFocus() ([]explain.IndexInfo, int32) {
	sets := a.indexSets()
	return a.indexDetails(&sets)
}

// indexDetails lists each index that failed, waits, or runs again, and how many more
// there are.
func (a *analysis) indexDetails(sets *indexSets) ([]explain.IndexInfo, int32) {
	d := &indexDetails{analysis: a, sets: sets}
	again := 0
	for _, p := range a.active {
		if d.isAgain(p) {
			again++
		}
	}
	most := len(a.failures) + again
	d.places, d.infos = make(map[int32]int, most), make([]explain.IndexInfo, 0, most)
	for i := range a.failures { // The latest first.
		if f := &a.failures[i]; d.has(f.pod.Index) && !f.consequence {
			d.failed(f)
		}
	}
	for _, pods := range [][]*explain.Pod{a.active, a.terminal} {
		for _, p := range pods {
			if d.isAgain(p) {
				d.latest(p)
			}
		}
	}
	for _, w := range a.indexWaits() {
		if d.wants(w.index) && sets.backingOff.Contains(w.index) {
			d.at(w.index).Until = explain.TimeOf(w.until)
		}
	}
	d.withoutPods()
	return d.sorted()
}

// most is how many indexes are listed one by one.
func (d *indexDetails) most() int {
	if d.o.MaxPods < 0 {
		return math.MaxInt32
	}
	return maxIndexDetails
}

func (d *indexDetails) has(index int32) bool {
	return index >= 0 && index < ptr.Deref(d.spec.Completions, 0)
}

// wants reports whether the report is about the index.
func (d *indexDetails) wants(index int32) bool { return d.o.Index == nil || *d.o.Index == index }

// at is what is known of an index, up to the next call.
func (d *indexDetails) at(index int32) *explain.IndexInfo {
	place, known := d.places[index]
	if !known {
		place = len(d.infos)
		d.places[index] = place
		d.infos = append(d.infos, explain.IndexInfo{Index: index})
	}
	return &d.infos[place]
}

// failed adds a failed pod. Each carries the failures before it if the Job has
// backoffLimitPerIndex; else they are counted.
func (d *indexDetails) failed(f *failure) {
	info := d.at(f.pod.Index)
	if !d.sets.completed.Contains(f.pod.Index) { // Else another pod has succeeded since.
		info.Attempt, info.Pod = max(info.Attempt, f.pod.Attempt), cmp.Or(info.Pod, f.pod.Name)
	}
	if info.Failure == nil {
		info.Cause, info.Failure = f.kind.text, &f.kind.failure
	}
	failures, ignored := int32(1), int32(0)
	if f.match != nil && f.match.Action == batchv1.PodFailurePolicyActionIgnore {
		failures, ignored = 0, 1
	}
	if d.perIndex() {
		info.Failures, info.Ignored = max(info.Failures, saturatingAdd(f.pod.Failures, failures)), max(info.Ignored, saturatingAdd(f.pod.Ignored, ignored))
		return
	}
	info.Failures, info.Ignored = info.Failures+failures, info.Ignored+ignored
}

// allowed is how many attempts an index may have: ignored ones are on top.
func (a *analysis) allowed(ignored int32) int32 { return saturatingAdd(a.attempts(), ignored) }

// saturatingAdd keeps counts that a tampered annotation made huge from turning negative.
func saturatingAdd(a, b int32) int32 { return int32(min(int64(a)+int64(b), 1<<31-1)) }

// isAgain reports whether a pod runs, or has succeeded, after others of its index have failed.
func (d *indexDetails) isAgain(p *explain.Pod) bool {
	_, failedBefore := d.places[p.Index]
	if p.IsTerminal() {
		return failedBefore && p.Phase == corev1.PodSucceeded
	}
	return (failedBefore || p.Attempt > 1) && d.inFocus(p) && d.has(p.Index)
}

// latest adds a pod that runs, or that has succeeded, after others have failed.
func (d *indexDetails) latest(p *explain.Pod) {
	info := d.at(p.Index)
	info.Attempt, info.Pod = max(info.Attempt, p.Attempt), p.Name
	info.Failures, info.Ignored = max(info.Failures, p.Failures), max(info.Ignored, p.Ignored)
}

// withoutPods adds failed indexes whose pods are gone, as far as they fit, and the one
// that was asked for.
func (d *indexDetails) withoutPods() {
	if d.o.Pod != "" {
		return
	}
	if d.o.Index != nil {
		if d.has(*d.o.Index) {
			d.at(*d.o.Index)
		}
		return
	}
	for index := range d.sets.failed.All() {
		if len(d.infos) >= min(d.most(), maxPodless) {
			return
		}
		d.at(index)
	}
}

// sorted puts the indexes in the order of their states, and of themselves in each.
func (d *indexDetails) sorted() (list []explain.IndexInfo, omitted int32) {
	byState := d.byState()
	list = make([]explain.IndexInfo, 0, min(len(d.infos), d.most()))
	for _, places := range byState {
		for _, place := range places[:min(len(places), cap(list)-len(list))] {
			info := &d.infos[place]
			if d.perIndex() {
				info.Attempts = d.allowed(info.Ignored)
			}
			list = append(list, *info)
		}
	}
	if len(list) == 0 {
		return nil, 0
	}
	return list, int32(len(d.infos) - len(list))
}

// byState notes the state of each index, and returns their places by state: it goes up
// the indexes and the sets together, once.
func (d *indexDetails) byState() [][]int {
	order := make([]uint64, len(d.infos))
	for i := range d.infos {
		order[i] = sortKey(d.infos[i].Index, i)
	}
	slices.Sort(order)
	sets := d.sets.ranked()
	cursors, byState := make([]indexset.Cursor, len(sets)), make([][]int, len(sets))
	for i := range sets {
		cursors[i] = sets[i].set.Cursor()
	}
	for _, key := range order {
		place := placeOf(key)
		info := &d.infos[place]
		for i := range sets {
			if cursors[i].Count(indexset.Interval{First: info.Index, Last: info.Index}) > 0 {
				info.State, byState[i] = sets[i].state, append(byState[i], place)
				break
			}
		}
	}
	return byState
}
