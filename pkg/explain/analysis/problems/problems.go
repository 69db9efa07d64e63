// Package problems finds what blocks a Job, and what else is wrong with it. No decision depends on most of this: images
// that cannot be pulled, quotas, a controller that does not run.
//
// Each kind of problem, or each close family of kinds, has a file with its detector. To add one, write such a file, add
// the detector to the table below, its words to package words, and what to do about it to package advice.
package problems

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// detectors find the problems of one kind, or of a close family, in the order in which they are reported.
var detectors = []func(in *facts.Facts) []explain.Problem{
	suspended, noParallelism, noPodGroup, creationRefused, // No pods are created.
	pendingPods, endedContainers, terminatingPods, foreignFinalizers, // Pods do not start, or do not end.
	processesOOMKilled, containersRetried, // Pods succeed, and may have done half of their work.
	deletion, ruleNames, impossible, unreadable, inconsistent, // Something is wrong with the Job itself.
}

// Detect returns what blocks the Job, which r runs, then what else is wrong.
func Detect(in *facts.Facts, r *explain.Reconciler) []explain.Problem {
	out := notReconciled(in, r)
	for _, detect := range detectors {
		out = append(out, detect(in)...)
	}
	slices.SortStableFunc(out, func(x, y explain.Problem) int {
		switch {
		case x.Blocks == y.Blocks:
			return 0
		case x.Blocks:
			return -1
		}
		return 1
	})
	return out
}

func one(p explain.Problem) []explain.Problem { return []explain.Problem{p} }

// addPod counts a pod, and keeps some names.
func addPod(p *explain.Problem, pod string) {
	p.Count++
	if len(p.Pods) < explain.MaxExamples {
		p.Pods = append(p.Pods, pod)
	}
}

// byKey collects problems of pods: those with the same key are one.
type byKey[K comparable] struct {
	places map[K]int
	all    []explain.Problem
}

// add adds the problem of a pod. The first one of a key stands for all, since the earliest of them.
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
	addPod(first, pod)
	if p.Since != nil && (first.Since == nil || p.Since.Before(first.Since)) {
		first.Since = p.Since
	}
}

func (b *byKey[K]) mostFrequentFirst() []explain.Problem {
	slices.SortStableFunc(b.all, func(x, y explain.Problem) int { return cmp.Compare(y.Count, x.Count) })
	return b.all
}

// Blocker is the first problem that holds the whole Job up, or nil: none does while pods run, or while it waits for a
// clock.
func Blocker(in *facts.Facts, all []explain.Problem) *explain.Problem {
	if in.Finished() {
		return nil
	}
	for i := range all {
		p := &all[i]
		if !p.Blocks {
			continue
		}
		if HoldsWholeJob(p) || !moves(in) {
			return p
		}
	}
	return nil
}

// HoldsWholeJob reports whether nothing happens, whatever the pods do.
func HoldsWholeJob(p *explain.Problem) bool {
	switch p.Kind {
	case explain.ProblemNotReconciled, explain.ProblemControllerGone, explain.ProblemSuspended, explain.ProblemNoParallelism,
		explain.ProblemUnknownMode, explain.ProblemBadRetryIndexes:
		return true
	}
	return false
}

// moves reports whether a pod runs without trouble.
func moves(in *facts.Facts) bool {
	if !in.PodsRead {
		// Active pods that a list does not have run, as far as it can know.
		return ptr.Deref(in.Job.Status.Ready, 0) > 0 || in.Listed && (in.Job.Status.Active > int32(len(in.Active)) || anyWorks(in))
	}
	return anyWorks(in)
}

// anyWorks reports whether a container that may do the Job's work runs.
func anyWorks(in *facts.Facts) bool {
	return slices.ContainsFunc(in.Active, func(p *explain.Pod) bool {
		if p.Phase != corev1.PodRunning {
			return false
		}
		loop, ended := facts.CrashLoop(p), EndedContainer(in, p)
		return (loop == nil || isBeside(p, loop)) && (ended == nil || !ended.WorkIsOver)
	})
}

// isBeside reports whether the container is a sidecar of a pod that runs.
func isBeside(p *explain.Pod, c *explain.Container) bool {
	m := p.Lineup.Named(c.Name)
	return m != nil && m.Sidecar && p.Phase == corev1.PodRunning
}
