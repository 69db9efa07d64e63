package account

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// taken is a pod that was taken from the Job. Times and the ruling are nil or zero if they are unknown.
type taken struct {
	end          endings.PodEnd
	gone         bool
	index        int32
	node         string
	began, ended time.Time
	ruling       *explain.Ruling
}

// Disruptions counts the pods that were taken from the Job: pods that exist, pods that the controller's events count, and pods
// that only the events of others, or of the kubelet that stopped them, show. It returns nil if no pod was taken.
func Disruptions(in *facts.Facts, fs *failures.Failures, a *Accounting, o explain.Options) *explain.Disruptions {
	known := takenPods(in, fs, o)
	if !o.IsNarrow() {
		known = append(append(known, a.countedGone(in, known)...), a.unrecorded(in, fs)...)
	}
	if len(known) == 0 {
		return nil
	}
	d, perIndex := &explain.Disruptions{By: byActor(known)}, map[int32]int32{}
	for i := range d.By {
		d.Pods += d.By[i].Pods
		d.LostSeconds += d.By[i].LostSeconds
		d.TimedPods += d.By[i].TimedPods
	}
	for i := range known {
		if known[i].index >= 0 {
			perIndex[known[i].index]++
		}
	}
	for _, index := range slices.Sorted(maps.Keys(perIndex)) {
		if n := perIndex[index]; n > max(d.IndexPods, 1) {
			d.Index, d.IndexPods = ptr.To(index), n
		}
	}
	return d
}

// takenPods returns the pods that exist, and the pods that only the events of others show.
func takenPods(in *facts.Facts, fs *failures.Failures, o explain.Options) (all []taken) {
	failed, exists := make(map[types.UID]*failures.Failure, len(fs.All)), map[string]bool{}
	for i := range fs.All {
		failed[fs.All[i].Pod.UID] = &fs.All[i]
	}
	for _, p := range in.Pods {
		if _, ended := fs.EventEnds[p.Name]; ended {
			exists[p.Name] = true
		}
		f := failed[p.UID]
		if !o.HasPod(p) || !mayBeTaken(in, p, f) {
			continue
		}
		end := endings.OfPod(p, fs.EventEnds)
		if !end.TookPod(end.Message) {
			continue
		}
		pod := taken{end: end, index: p.Index, node: p.Node, began: p.StartedAt, ended: cmp.Or(p.FinishedAt, p.DeletedAt)}
		switch {
		case f != nil:
			c := failures.CauseOf(&f.Kind.Cause, "")
			pod.ruling = &c.Ruling
		case isCountedEarly(in, p):
			c := stoppedCause("")
			pod.ruling = &c.Ruling
		}
		all = append(all, pod)
	}
	return append(all, gonePods(in, fs, exists, o)...)
}

// mayBeTaken reports whether others may have ended the pod: its failure, nil if it has none, or its deletion is not the doing of the
// Job's controller.
func mayBeTaken(in *facts.Facts, p *input.Pod, f *failures.Failure) bool {
	switch {
	case f != nil:
		return f.Ending() != nil
	case p.Phase == corev1.PodSucceeded:
		return false
	}
	return (p.Disruption != "" || p.IsTerminating()) && !failures.IsConsequence(in, p)
}

// gonePods returns the pods that only the events of others show.
func gonePods(in *facts.Facts, fs *failures.Failures, exists map[string]bool, o explain.Options) (all []taken) {
	began, ended, nodes := podTimes(in)
	for _, name := range slices.Sorted(maps.Keys(fs.EventEnds)) {
		end := fs.EventEnds[name]
		// Whether a pod failed that is only gone with its node is unknown.
		if exists[name] || end.IsRemoved() || !end.TookPod(end.Message) || o.Pod != "" && o.Pod != name {
			continue
		}
		index, isOurs := input.IndexInName(in.Job, name)
		if !isOurs {
			index = reconcile.NoIndex
		}
		if o.HasIndex(index) {
			all = append(all, taken{end: end, gone: true, index: index, node: nodes[name], began: began[name], ended: ended[name]})
		}
	}
	return all
}

// podTimes returns, by pod, when its first container started and when it was taken, by events, and its node.
func podTimes(in *facts.Facts) (began, ended map[string]time.Time, nodes map[string]string) {
	began, ended, nodes = map[string]time.Time{}, map[string]time.Time{}, map[string]string{}
	for i := range in.Events {
		e := &in.Events[i]
		if end, _ := endings.OfEvent(e); end != nil {
			ended[e.Pod] = e.Last
		}
		if e.Reason == "Started" && began[e.Pod].IsZero() {
			began[e.Pod] = e.Began()
		}
		if node := meaning.AssignedNode(e.Reason, e.Message); node != "" {
			nodes[e.Pod] = node
		}
	}
	return began, ended, nodes
}

// countedGone returns pods that are gone and that the causes count, if more are counted than the known pods show; and it rules
// on the known pods that are gone: those that are not counted were ignored, if there is one rule that may have ignored them.
func (a *Accounting) countedGone(in *facts.Facts, known []taken) (more []taken) {
	byKind := map[meaning.EndKind][]*taken{}
	existing := map[key]int32{}
	for i := range known {
		switch pod := &known[i]; {
		case pod.gone:
			byKind[pod.end.Kind] = append(byKind[pod.end.Kind], pod)
		case pod.ruling != nil:
			existing[keyOf(pod, pod.ruling)]++
		}
	}
	for i := range a.Causes {
		c := &a.Causes[i]
		if c.Ending == nil || c.IsStopped() || !c.Ending.TookPod(c.Message) {
			continue
		}
		pod := taken{end: endings.PodEnd{Ending: *c.Ending, Message: c.Message}, index: reconcile.NoIndex, ruling: &c.Ruling}
		k := keyOf(&pod, &c.Ruling)
		rest := c.Count - existing[k]
		existing[k] = max(0, -rest)
		for ; rest > 0; rest-- {
			if gone := byKind[c.Ending.Kind]; len(gone) > 0 {
				gone[0].ruling, byKind[c.Ending.Kind] = &c.Ruling, gone[1:]
			} else {
				more = append(more, pod)
			}
		}
	}
	if rule, _ := onlyIgnoring(in); rule != nil {
		for _, gone := range byKind {
			for _, pod := range gone {
				pod.ruling = rule
			}
		}
	}
	return more
}

// unrecorded returns pods that are gone, that a kubelet stopped, and that neither the Job's controller deleted nor the causes count: a rule
// ignored that they were deleted, or evicted by the Eviction API, of which no event remains. Our controller records all failures.
func (a *Accounting) unrecorded(in *facts.Facts, fs *failures.Failures) (all []taken) {
	rule, ignores := onlyIgnoring(in)
	if !ignores || !in.NamesDeletions() || slices.ContainsFunc(in.Events, func(e input.Event) bool { return e.Failed != nil }) {
		return nil
	}
	counted := int(a.Unexplained)
	for i := range a.Causes {
		if c := &a.Causes[i]; c.Source != explain.SourcePods && c.Ending == nil && !c.IsStopped() {
			counted += int(c.Count)
		}
	}
	began, _, nodes := podTimes(in)
	gone := killedPods(in, fs.EventEnds, 0)
	for i := range in.Events {
		e := &in.Events[i]
		container, stopped := endings.StoppedContainer(e)
		at := slices.Index(gone, e.Pod)
		if at < 0 || !stopped || fs.EventEnds[e.Pod].Kind != "" || in.StopReason(e.First) != explain.StoppedExcess ||
			!slices.ContainsFunc(in.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == container }) {
			continue
		}
		gone = slices.Delete(gone, at, at+1)
		pod := taken{gone: true, index: reconcile.NoIndex, node: nodes[e.Pod], began: began[e.Pod], ended: e.First, ruling: rule}
		if index, isOurs := input.IndexInName(in.Job, e.Pod); isOurs {
			pod.index = index
		}
		all = append(all, pod)
	}
	return all[min(counted, len(all)):]
}

// onlyIgnoring returns the only rule with action Ignore, nil if there are several, and whether there is one.
func onlyIgnoring(in *facts.Facts) (only *explain.Ruling, ignores bool) {
	policy := in.Spec.PodFailurePolicy
	if policy == nil || !in.PodsRead {
		return nil, false
	}
	for i := range policy.Rules {
		if policy.Rules[i].Action != batchv1.PodFailurePolicyActionIgnore {
			continue
		}
		if ignores {
			return nil, true
		}
		only, ignores = &explain.Ruling{Rule: ptr.To(int32(i)), Action: string(batchv1.PodFailurePolicyActionIgnore)}, true
		if i < len(in.Names) {
			only.RuleName = in.Names[i]
		}
	}
	return only, ignores
}

// key identifies an actor and a reason; of causes, also what a rule decided.
type key struct {
	end    meaning.Ending
	why    string
	rule   int32
	action string
}

func keyOf(pod *taken, of *explain.Ruling) key {
	k := key{end: meaning.Ending{Kind: pod.end.Kind, By: pod.end.By}, rule: failurepolicy.NoRule}
	if pod.end.Kind == meaning.EndDisrupted {
		k.end.Reason = pod.end.Reason
	}
	if pod.end.By == meaning.ByKarpenter {
		k.why = pod.end.Message
	}
	if of != nil {
		k.rule, k.action = ptr.Deref(of.Rule, failurepolicy.NoRule), of.Action
	}
	return k
}

// byActor returns the pods by actor and reason, the most frequent first.
func byActor(pods []taken) []explain.Disruption {
	all, indexes := map[key]*explain.Disruption{}, map[key][]int32{}
	for i := range pods {
		pod := &pods[i]
		k := keyOf(pod, nil)
		if all[k] == nil {
			all[k] = &explain.Disruption{Ending: k.end, Why: k.why}
		}
		addPod(all[k], pod)
		if pod.index >= 0 {
			indexes[k] = append(indexes[k], pod.index)
		}
	}
	var by []explain.Disruption
	for k, d := range all {
		d.Indexes = indexset.Of(indexes[k]...).String()
		d.IndexList = explain.ListIndexes(d.Indexes)
		by = append(by, *d)
	}
	slices.SortFunc(by, func(x, y explain.Disruption) int {
		return cmp.Or(cmp.Compare(y.Pods, x.Pods), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.By, y.By), cmp.Compare(x.Why, y.Why), cmp.Compare(x.Reason, y.Reason))
	})
	return by
}

// addPod adds a pod to the numbers.
func addPod(d *explain.Disruption, pod *taken) {
	d.Pods++
	if ran := pod.ended.Sub(pod.began); !pod.began.IsZero() && ran >= 0 {
		d.LostSeconds += int64(ran / time.Second)
		d.TimedPods++
	}
	addExample(&d.For, meaning.Preemptor(pod.end.Message))
	addExample(&d.Nodes, pod.node)
	if at := explain.TimeOf(pod.ended); at != nil {
		if d.First == nil || at.Before(d.First) {
			d.First = at
		}
		if d.Last == nil || d.Last.Before(at) {
			d.Last = at
		}
	}
	if pod.ruling == nil {
		return
	}
	same := func(r explain.RuledPods) bool {
		return r.Action == pod.ruling.Action && ptr.Equal(r.Rule, pod.ruling.Rule)
	}
	i := slices.IndexFunc(d.Rulings, same)
	if i < 0 {
		i = len(d.Rulings)
		d.Rulings = append(d.Rulings, explain.RuledPods{Ruling: *pod.ruling})
	}
	d.Rulings[i].Pods++
}

// addExample adds a name to at most MaxExamples different ones.
func addExample(all *[]string, name string) {
	if name != "" && len(*all) < explain.MaxExamples && !slices.Contains(*all, name) {
		*all = append(*all, name)
	}
}
