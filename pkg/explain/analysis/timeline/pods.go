package timeline

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
)

// fewPods is the maximum number of pods that are listed one by one.
const fewPods = 5

// podMoments returns the creations, successes and failures of pods; many of one kind are one moment.
func podMoments(in *facts.Facts, failed *failures.Failures, o explain.Options) []explain.Moment {
	var created, succeeded moments
	for _, p := range in.Pods {
		if !o.HasPod(p) {
			continue
		}
		created.add(p.CreatedAt, p.Name)
		if p.Phase == corev1.PodSucceeded {
			succeeded.add(p.FinishedAt, p.Name)
		}
	}
	out := created.grouped(explain.Moment{Kind: explain.MomentPodsCreated})
	out = append(out, succeeded.grouped(explain.Moment{Kind: explain.MomentPodsSucceeded})...)
	for _, g := range failed.Groups {
		var failed moments
		for _, f := range g.Failures {
			failed.add(f.Pod.FinishedAt, f.Pod.Name)
		}
		out = append(out, failed.grouped(explain.Moment{Kind: explain.MomentPodsFailed, Failure: &g.Kind.Cause.Failure, Cause: g.Kind.Text, Warning: true})...)
	}
	return out
}

// moments are times of the same change of pods: the first fewPods one by one, and the range of all.
type moments struct {
	n           int
	few         []moment
	first, last time.Time
}

type moment struct {
	at   time.Time
	name string
}

// add ignores a pod if the time is unknown.
func (m *moments) add(at time.Time, name string) {
	if at.IsZero() {
		return
	}
	if m.n == 0 || at.Before(m.first) {
		m.first = at
	}
	if m.n == 0 || at.After(m.last) {
		m.last = at
	}
	if m.n++; m.n <= fewPods {
		m.few = append(m.few, moment{at, name})
	}
}

// grouped returns one moment for each of a few pods, or one for all; of is the template of the moments.
func (m *moments) grouped(of explain.Moment) []explain.Moment {
	if m.n > fewPods {
		of.Time, of.Until, of.PodCount = metav1.NewTime(m.first), explain.TimeOf(m.last), int32(m.n)
		return []explain.Moment{of}
	}
	slices.SortFunc(m.few, func(x, y moment) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.name, y.name)) })
	var out []explain.Moment
	for _, p := range m.few {
		of.Time, of.PodCount, of.Pod = metav1.NewTime(p.at), 1, p.name
		out = append(out, of)
	}
	return out
}
