package analysis

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// podInfos returns the pods that the report is about: first failed pods, then pods that do not start, terminate, run, or
// have succeeded. It also returns the number of pods left out.
func podInfos(in *facts.Facts, failed *failures.Failures, o explain.Options) ([]explain.PodInfo, int32) {
	var shown [podRanks][]*input.Pod
	all := 0
	for _, p := range in.Pods {
		if o.HasPod(p) {
			rank := podRank(in, p)
			shown[rank] = append(shown[rank], p)
			all++
		}
	}
	limit := cmp.Or(o.MaxPods, explain.DefaultMaxPods)
	if limit < 0 {
		limit = all
	}
	t := &podTable{byPod: make(map[*input.Pod]*failures.Failure, len(failed.All)), steps: in.RecordedAs()}
	for i := range failed.All {
		t.byPod[failed.All[i].Pod] = &failed.All[i]
	}
	out := make([]explain.PodInfo, 0, min(all, limit))
	for _, pods := range shown {
		slices.SortFunc(pods, comparePods)
		for _, p := range pods[:min(len(pods), cap(out)-len(out))] {
			out = append(out, t.info(p))
		}
	}
	return out, int32(all - len(out))
}

// comparePods orders pods of one rank: by index, the latest attempt first.
func comparePods(x, y *input.Pod) int {
	switch {
	case x.Index != y.Index:
		return cmp.Compare(x.Index, y.Index)
	case x.Attempt != y.Attempt:
		return cmp.Compare(y.Attempt, x.Attempt)
	}
	return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.Name, y.Name))
}

// podRanks is the number of results of podRank.
const podRanks = 5

func podRank(in *facts.Facts, p *input.Pod) int {
	switch {
	case p.Phase == corev1.PodFailed:
		return 0
	case p.Deleting:
		return 2
	case p.Phase == corev1.PodSucceeded:
		return 4
	case p.Phase == corev1.PodRunning && in.CrashLoop(p) == nil:
		return 3
	}
	return 1
}

// podTable holds data shared by the PodInfos.
type podTable struct {
	byPod   map[*input.Pod]*failures.Failure
	steps   map[types.UID]string
	numbers slab[int32]
	times   slab[metav1.Time]
}

// slab allocates pointers in batches: a huge Job has ten thousand pods, with four pointers each.
type slab[T any] struct{ free []T }

func (s *slab[T]) ptr(v T) *T {
	if len(s.free) == 0 {
		s.free = make([]T, 128)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = v
	return p
}

// time returns nil for the zero time.
func (t *podTable) time(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return t.times.ptr(metav1.Time{Time: at})
}

func (t *podTable) info(p *input.Pod) explain.PodInfo {
	info := explain.PodInfo{
		Name: p.Name, Attempt: p.Attempt, Phase: string(p.Phase), State: p.State(), Ready: p.Ready, Node: p.Node,
		Created: t.time(p.CreatedAt), Started: t.time(p.StartedAt), Restarts: p.Restarts,
	}
	if p.Index >= 0 {
		info.Index = t.numbers.ptr(p.Index)
	}
	if p.IsTerminating() && !p.DeletedAt.IsZero() {
		info.GraceEnds = t.time(p.DeletedAt.Add(p.Grace))
	}
	if p.IsTerminal() {
		step := t.steps[p.UID]
		info.Ended = t.time(p.FinishedAt)
		info.Counted = cmp.Or(step, explain.Counted)
		if p.Finalizer && step == "" {
			info.Counted = explain.NotCounted
		}
	}
	if f := t.byPod[p]; f != nil {
		t.addFailure(&info, f)
		if p.Phase == corev1.PodFailed {
			info.Stopped = f.Stopped
		}
	}
	return info
}

func (t *podTable) addFailure(info *explain.PodInfo, f *failures.Failure) {
	info.Cause, info.Failure = f.Kind.Text, &f.Kind.Cause.Failure
	if !f.Matched() {
		return
	}
	info.Rule, info.Action = t.numbers.ptr(f.Match.Rule), string(f.Match.Action)
	if f.Ignored() {
		info.Counted = explain.NotCounted
	}
}
