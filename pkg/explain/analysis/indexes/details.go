package indexes

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

const (
	// maxDetails is how many indexes are listed one by one, unless all pods are.
	maxDetails = 100
	// maxPodless is the maximum length of the list with indexes that have no pods, of which there may be 2^31.
	maxPodless = 10_000
)

// details collects data about single indexes.
type details struct {
	in     *facts.Facts
	failed *failures.Failures
	o      explain.Options
	sets   *sets
	most   int // how many indexes are listed one by one
	// infos are unordered and have no State before sorted; places maps an index to its position in infos.
	infos  []explain.IndexInfo
	places map[int32]int
}

// detailsOf returns the indexes that failed, wait, or run again, and the number of indexes left out.
func detailsOf(in *facts.Facts, failed *failures.Failures, o explain.Options, sets *sets) ([]explain.IndexInfo, int32) {
	d := &details{in: in, failed: failed, o: o, sets: sets, most: maxDetails}
	if o.MaxPods < 0 {
		d.most = math.MaxInt32
	}
	capacity := len(failed.All)
	for _, p := range in.Active {
		if d.isAgain(p) {
			capacity++
		}
	}
	d.places, d.infos = make(map[int32]int, capacity), make([]explain.IndexInfo, 0, capacity)
	for i := range failed.All { // The latest first.
		if f := &failed.All[i]; d.has(f.Pod.Index) && !f.Consequence {
			d.addFailure(f)
		}
	}
	for _, pods := range [][]*input.Pod{in.Active, in.Terminal} {
		for _, p := range pods {
			if d.isAgain(p) {
				info := d.at(p.Index)
				info.Attempt, info.Pod = max(info.Attempt, p.Attempt), p.Name
				info.Failures, info.Ignored = max(info.Failures, p.Failures), max(info.Ignored, p.Ignored)
			}
		}
	}
	for _, w := range in.Plan.Findings.AwaitReplacement {
		if index := w.Pod.Index; in.Now.Before(w.Until) && o.HasIndex(index) && sets.backingOff.Contains(index) {
			d.at(index).Until = explain.TimeOf(w.Until)
		}
	}
	d.withoutPods()
	return d.sorted()
}

func (d *details) has(index int32) bool {
	return index >= 0 && index < ptr.Deref(d.in.Spec.Completions, 0)
}

// at returns the info of an index, which is valid until the next call.
func (d *details) at(index int32) *explain.IndexInfo {
	place, known := d.places[index]
	if !known {
		place = len(d.infos)
		d.places[index] = place
		d.infos = append(d.infos, explain.IndexInfo{Index: index})
	}
	return &d.infos[place]
}

// addFailure adds a failed pod. With backoffLimitPerIndex, each pod carries the number of earlier failures; else they are counted.
func (d *details) addFailure(f *failures.Failure) {
	info := d.at(f.Pod.Index)
	if !d.sets.completed.Contains(f.Pod.Index) { // Otherwise, another pod has succeeded since.
		info.Attempt, info.Pod = max(info.Attempt, f.Pod.Attempt), cmp.Or(info.Pod, f.Pod.Name)
	}
	if info.Failure == nil {
		info.Cause, info.Failure = f.Kind.Text, &f.Kind.Cause.Failure
	}
	failures, ignored := int32(1), int32(0)
	if f.Ignored() {
		failures, ignored = 0, 1
	}
	if d.in.PerIndex() {
		info.Failures, info.Ignored = max(info.Failures, facts.AddSaturating(f.Pod.Failures, failures)), max(info.Ignored, facts.AddSaturating(f.Pod.Ignored, ignored))
		return
	}
	info.Failures, info.Ignored = info.Failures+failures, info.Ignored+ignored
}

// isAgain reports whether a pod runs, or has succeeded, after failures of its index.
func (d *details) isAgain(p *input.Pod) bool {
	_, failedBefore := d.places[p.Index]
	if p.IsTerminal() {
		return failedBefore && p.Phase == corev1.PodSucceeded
	}
	return (failedBefore || p.Attempt > 1) && d.o.HasPod(p) && d.has(p.Index)
}

// withoutPods adds the selected indexes, or else the failed indexes whose pods no longer exist, up to the limits.
func (d *details) withoutPods() {
	if d.o.Pod != "" {
		return
	}
	indexes, selected := d.sets.failed, !d.o.Indexes.IsEmpty()
	if selected {
		indexes = d.o.Indexes
	}
	for index := range indexes.All() {
		if len(d.infos) >= min(d.most, maxPodless) {
			return
		}
		if !selected || d.has(index) {
			d.at(index)
		}
	}
}

// sorted returns the indexes by state, then by index, and the number left out. It walks the sorted indexes and the sets in parallel, once.
func (d *details) sorted() (list []explain.IndexInfo, omitted int32) {
	order := make([]uint64, len(d.infos))
	for i := range d.infos {
		order[i] = facts.SortKey(d.infos[i].Index, i)
	}
	slices.Sort(order)
	sets := d.sets.ranked()
	cursors, byState := make([]indexset.Cursor, len(sets)), make([][]int, len(sets))
	for i := range sets {
		cursors[i] = sets[i].set.Cursor()
	}
	for _, key := range order {
		place := facts.PlaceOf(key)
		info := &d.infos[place]
		for i := range sets {
			if cursors[i].Count(indexset.Interval{First: info.Index, Last: info.Index}) > 0 {
				info.State, byState[i] = sets[i].state, append(byState[i], place)
				break
			}
		}
	}

	list = make([]explain.IndexInfo, 0, min(len(d.infos), d.most))
	for _, places := range byState {
		for _, place := range places[:min(len(places), cap(list)-len(list))] {
			info := &d.infos[place]
			if d.in.PerIndex() {
				info.Attempts = d.in.AllowedAttempts(info.Ignored)
			}
			list = append(list, *info)
		}
	}
	if len(list) == 0 {
		return nil, 0
	}
	return list, int32(len(d.infos) - len(list))
}
