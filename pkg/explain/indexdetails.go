package explain

import (
	"cmp"
	"maps"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// maxIndexDetails is how many indexes are told one by one.
const maxIndexDetails = 100

// indexDetails collects what is known of single indexes.
type indexDetails struct {
	*analysis
	sets  *indexSets
	infos map[int32]*IndexInfo
}

// detailsInFocus are those of the indexes that the report is about.
func (a *analysis) detailsInFocus() ([]IndexInfo, int32) {
	sets := a.indexSets()
	return a.indexDetails(&sets)
}

// indexDetails tells of each index that failed, waits, or runs again, and how many more
// there are.
func (a *analysis) indexDetails(sets *indexSets) ([]IndexInfo, int32) {
	d := &indexDetails{analysis: a, sets: sets, infos: map[int32]*IndexInfo{}}
	for i := range a.failures { // The latest first.
		if f := &a.failures[i]; d.has(f.pod.Index) && !f.consequence {
			d.failed(f)
		}
	}
	for i := range a.Pods {
		if p := &a.Pods[i]; p.Attempt > 1 && p.IsActive() && a.inFocus(p) && d.has(p.Index) {
			d.again(p)
		}
	}
	for _, f := range a.findings(reconcile.FindingIndexBackoff) {
		if d.wants(f.Index) {
			d.at(f.Index).Until = timeOf(f.Until)
		}
	}
	d.withoutPods()
	return d.sorted()
}

// most is how many indexes are told one by one.
func (d *indexDetails) most() int {
	if d.o.MaxPods < 0 {
		return math.MaxInt32
	}
	return maxIndexDetails
}

func (d *indexDetails) has(index int32) bool {
	return index >= 0 && index < deref(d.spec.Completions, 0)
}

// wants says that the report is about the index.
func (d *indexDetails) wants(index int32) bool { return d.o.Index == nil || *d.o.Index == index }

func (d *indexDetails) at(index int32) *IndexInfo {
	info := d.infos[index]
	if info == nil {
		info = &IndexInfo{Index: index, State: d.sets.state(index)}
		d.infos[index] = info
	}
	return info
}

// failed adds a failed pod. Each carries the failures before it if the Job has
// backoffLimitPerIndex; else they are counted.
func (d *indexDetails) failed(f *failure) {
	info := d.at(f.pod.Index)
	info.Attempt = max(info.Attempt, f.pod.Attempt)
	if info.Pod == "" {
		info.Pod, info.Cause = f.pod.Name, f.cause.Evidence()
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

// again adds a pod that runs after others have failed.
func (d *indexDetails) again(p *Pod) {
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
		if len(d.infos) >= d.most() {
			return
		}
		d.at(index)
	}
}

func (d *indexDetails) sorted() (list []IndexInfo, omitted int32) {
	for _, info := range slices.SortedFunc(maps.Values(d.infos), func(x, y *IndexInfo) int {
		return cmp.Or(cmp.Compare(indexRank(x), indexRank(y)), cmp.Compare(x.Index, y.Index))
	}) {
		if len(list) == d.most() {
			return list, int32(len(d.infos) - d.most())
		}
		if d.perIndex() {
			info.Attempts = d.allowed(info.Ignored)
		}
		list = append(list, *info)
	}
	return list, 0
}

func indexRank(i *IndexInfo) int {
	return slices.Index([]string{IndexFailed, IndexBackingOff, IndexActive, IndexTerminating, IndexPending, IndexUnknown, IndexCompleted}, i.State)
}
