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

// Explain reports what happens to the Job, and why. It goes in steps, each of which has all
// that it needs from those before: the analysis, the numbers, the problems, and what follows.
func Explain(f Facts, o Options) Report {
	whole := Options{MaxPods: o.MaxPods}
	s := situationOf(analyse(&f, whole))
	r := s.report()
	if o != whole {
		s.narrowed(o).narrow(&r)
	}
	return r
}

// numbers are the analysis, and what is counted in it.
type numbers struct {
	*analysis
	jobView    Job
	counts     Counts
	reconciler Reconciler
	causes     []Cause
	// untold is Report.FailuresWithoutPod.
	untold  int32
	failure *FailurePolicy
	success *SuccessPolicy
	indexes *Indexes
	waits   []Wait
}

// situation is that, and what is wrong.
type situation struct {
	*numbers
	problems []Problem
}

func situationOf(a *analysis) *situation {
	n := &numbers{
		analysis: a, jobView: jobOf(a.Facts), counts: a.countPods(), reconciler: a.whoReconciles(),
		failure: a.failurePolicy(), success: a.successPolicy(), indexes: a.indexStates(), waits: a.clocks(),
	}
	n.causes, n.untold = a.causesOfFailures()
	return &situation{n, n.findProblems()}
}

// narrowed is the situation with a narrower focus: what is known of the Job as a whole stays.
func (a *situation) narrowed(o Options) *situation {
	n := *a.numbers
	n.analysis = n.analysis.narrowed(o)
	n.causes, n.untold = n.causesOfFailures()
	return &situation{&n, a.problems}
}

func (a *situation) report() Report {
	r := Report{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind},
		Job:      a.jobView, ObservedAt: metav1.NewTime(a.Now), Conditions: a.conditions(), Counts: a.counts, Reconciler: a.reconciler, Gaps: a.Gaps,
		Causes: a.causes, FailuresWithoutPod: a.untold, FailurePolicy: a.failure, SuccessPolicy: a.success, Indexes: a.indexes, Waits: a.waits,
		Problems: a.problems, Evidence: a.evidence(), Verdict: a.verdict(), Timeline: a.timeline(), Next: a.next(), Advice: a.advice(),
	}
	r.Pods, r.PodsOmitted = a.podInfos()
	return r
}

// narrow replaces the parts of a report that have a focus.
func (a *situation) narrow(r *Report) {
	r.Causes, r.FailuresWithoutPod = a.causes, a.untold
	if r.Indexes != nil {
		r.Indexes.Details, r.Indexes.DetailsOmitted = a.detailsInFocus()
	}
	r.Evidence, r.Timeline, r.Advice = a.evidence(), a.timeline(), a.advice()
	r.Pods, r.PodsOmitted = a.podInfos()
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
		if c == nil || e.pod.Node == "" || c.NeverStarted() || c.Waiting != "" && !c.Before {
			continue
		}
		targets = append(targets, LogTarget{Pod: e.pod.Name, Container: c.Name, Previous: c.Before})
	}
	return targets
}
