// Package podproblems finds pods that do not start, that do not end, or that succeeded although something is wrong.
package podproblems

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// byKey collects problems of pods, and merges problems with the same key.
type byKey[K comparable] struct {
	places map[K]int
	all    []explain.Problem
}

// add adds the problem of a pod. The first problem of a key represents all, with the earliest Since.
func (b *byKey[K]) add(key K, pod string, p *explain.Problem) {
	place, known := b.places[key]
	if !known {
		if b.places == nil {
			b.places = map[K]int{}
		}
		place = len(b.all)
		b.places[key] = place
		b.all = append(b.all, *p)
	}
	first := &b.all[place]
	if known && (p.Kind == explain.ProblemCrashLoop || p.Kind == explain.ProblemRestarted) {
		first.Run.Restarts += p.Run.Restarts
	}
	first.AddPod(pod)
	if p.Since != nil && (first.Since == nil || p.Since.Before(first.Since)) {
		first.Since = p.Since
	}
}

func (b *byKey[K]) mostFrequentFirst() []explain.Problem {
	slices.SortStableFunc(b.all, func(x, y explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	return b.all
}

// IsBeside reports whether the container is a sidecar of a pod that runs.
func IsBeside(p *input.Pod, c *input.Container) bool {
	m := p.Lineup.Named(c.Name)
	return m != nil && m.Sidecar && p.Phase == corev1.PodRunning
}
