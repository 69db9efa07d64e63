package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultMaxPods is how many pods a Report lists unless Options say otherwise.
const DefaultMaxPods = 50

// Options narrow a Report. The zero value does not.
type Options struct {
	// Pod and Index restrict evidence, causes, indexes and pods to those of one pod, or of
	// one index. What is said of the Job as a whole stays.
	Pod   string
	Index *int32
	// MaxPods is how many pods are listed: 0 for DefaultMaxPods, negative for all.
	MaxPods int
}

// Explain says what becomes of the Job, and why.
func Explain(f Facts, o Options) Report {
	whole := Options{MaxPods: o.MaxPods}
	all := analyse(&f, whole)
	r := all.report()
	if o == whole {
		return r
	}
	a := all.narrowed(o)
	a.r = &r
	r.Causes, r.FailuresWithoutPod = a.causes()
	if r.Indexes != nil {
		r.Indexes.Details, r.Indexes.DetailsOmitted = a.detailsInFocus()
	}
	r.Evidence = a.evidence()
	r.Timeline = a.timeline()
	r.Advice = a.advice()
	r.Pods, r.PodsOmitted = a.podInfos()
	return r
}

func (a *analysis) report() Report {
	r := Report{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind},
		Job:        jobOf(a.Facts),
		ObservedAt: metav1.NewTime(a.Now),
		Conditions: a.conditions(),
		Counts:     a.counts(),
		Reconciler: a.reconciler(),
		Gaps:       a.Gaps,
	}
	r.Causes, r.FailuresWithoutPod = a.causes()
	r.FailurePolicy = a.failurePolicy()
	r.SuccessPolicy = a.successPolicy()
	r.Indexes = a.indexes()
	r.Waits = a.waits()
	a.r = &r
	r.Problems = a.problems()
	r.Evidence = a.evidence()
	r.Verdict = a.verdict()
	r.Timeline = a.timeline()
	r.Next = a.next()
	r.Advice = a.advice()
	r.Pods, r.PodsOmitted = a.podInfos()
	return r
}

// LogTargets are the containers whose last lines belong into the evidence, the most
// telling first, at most n. The pods are there; their logs may not be.
func LogTargets(f Facts, o Options, n int) []LogTarget {
	a := analyse(&f, o)
	var targets []LogTarget
	for _, e := range a.examples() {
		if len(targets) == n {
			break
		}
		c := e.container()
		if c == nil || e.pod.Node == "" || c.neverStarted() || c.Waiting != "" && !c.Before {
			continue
		}
		targets = append(targets, LogTarget{Pod: e.pod.Name, Container: c.Name, Previous: c.Before})
	}
	return targets
}
