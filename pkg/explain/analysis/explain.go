// Package analysis explains a Job: it turns an explain.Input into an explain.Report.
//
// It asks the decision core (reconcile.Review) what would be written next, and why: rules that
// matched, limits, clocks, pods that wait. What no decision depends on (images that cannot be
// pulled, quotas, a controller that does not run) it finds itself.
//
// A report is made in steps, each of which has all that it needs: the analysis (sorted pods,
// failures by cause), the numbers (counts, indexes, policies, clocks), the problems, and what
// follows from them (verdict, evidence, next steps, advice).
package analysis

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/family"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Explain reports what happens to the Job, and why. It goes in steps, each of which has all
// that it needs from those before: the analysis, the numbers, the problems, and what follows.
func Explain(f explain.Input, o explain.Options) explain.Report {
	f.Now = f.Now.Truncate(time.Second) // As all times of the API: what is left and what has passed add up.
	whole := explain.Options{MaxPods: o.MaxPods}
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
	jobView    explain.Job
	counts     explain.Counts
	reconciler explain.Reconciler
	causes     []explain.Cause
	// untold is Report.FailuresWithoutPod.
	untold  int32
	failure *explain.FailurePolicy
	success *explain.SuccessPolicy
	indexes *explain.Indexes
	// backoffLimit is Report.BackoffLimit.
	backoffLimit *explain.BackoffLimit
	waits        []explain.Wait
	family       *explain.Family
}

// situation is that, and what is wrong.
type situation struct {
	*numbers
	problems []explain.Problem
}

func situationOf(a *analysis) *situation {
	n := &numbers{
		analysis: a, jobView: jobOf(a.Input), counts: a.countPods(), reconciler: a.whoReconciles(),
		failure: a.failurePolicy(), success: a.successPolicy(), indexes: a.indexStates(), backoffLimit: a.backoffLimitUse(), waits: a.clocks(),
		family: a.familyOf(),
	}
	n.counts.Completed = n.succeededNow()
	n.causes, n.untold = a.causesOfFailures()
	return &situation{n, n.findProblems()}
}

// narrowed is the situation with a narrower focus: what is known of the Job as a whole stays.
func (a *situation) narrowed(o explain.Options) *situation {
	n := *a.numbers
	n.analysis = a.numbers.narrowed(o)
	n.causes, n.untold = n.causesOfFailures()
	return &situation{&n, a.problems}
}

func (a *situation) report() explain.Report {
	r := explain.Report{
		TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.Kind},
		Job:      a.jobView, ObservedAt: metav1.NewTime(a.Now), Conditions: a.conditions(), Counts: a.counts, Reconciler: a.reconciler, Gaps: a.Gaps,
		Causes: a.causes, FailuresWithoutPod: a.untold, FailurePolicy: a.failure, SuccessPolicy: a.success, Indexes: a.indexes, BackoffLimit: a.backoffLimit, Waits: a.waits, Family: a.family,
		Problems: a.problems, Evidence: a.evidence(), Verdict: a.verdict(), Timeline: a.timeline(), Next: a.next(), Advice: a.advice(),
	}
	r.Pods, r.PodsOmitted = a.podInfos()
	return r
}

// narrow replaces the parts of a report that have a focus.
func (a *situation) narrow(r *explain.Report) {
	r.Causes, r.FailuresWithoutPod = a.causes, a.untold
	if r.Indexes != nil {
		r.Indexes.Details, r.Indexes.DetailsOmitted = a.detailsInFocus()
	}
	r.Evidence, r.Timeline, r.Advice = a.evidence(), a.timeline(), a.advice()
	r.Pods, r.PodsOmitted = a.podInfos()
}

// LogTargets are the containers whose last lines belong into the evidence, the most
// informative first, at most n. The pods exist; their logs may not.
func LogTargets(f explain.Input, o explain.Options, n int) []explain.LogTarget {
	a := analyse(&f, o)
	var targets []explain.LogTarget
	for _, e := range a.examples() {
		if len(targets) == n {
			break
		}
		c := e.container()
		if c == nil || e.pod.Node == "" || c.NeverStarted() || c.Waiting != "" && !c.Before {
			continue
		}
		targets = append(targets, explain.LogTarget{Pod: e.pod.Name, Container: c.Name, Previous: c.Before})
	}
	return targets
}

// familyOf is the family of the Job, nil if it is not a retry and has none, or if that is not known.
func (a *analysis) familyOf() *explain.Family {
	var jobs []*batchv1.Job
	inputs := map[*batchv1.Job]*explain.Input{}
	for i := range a.Relatives {
		jobs = append(jobs, a.Relatives[i].Job)
		inputs[a.Relatives[i].Job] = &a.Relatives[i]
	}
	all := retry.FamilyOf(a.job, jobs)
	if !a.RelativesRead || len(all) == 1 && retry.AttemptOf(a.job) == 0 {
		return nil
	}
	members := make([]family.Member, len(all))
	for i, job := range all {
		of := a
		if job != a.job {
			in := *inputs[job]
			in.Now = a.Now
			of = analyse(&in, explain.Options{})
		}
		members[i] = of.member()
	}
	return family.Of(a.job, all, members)
}

// member is what the family has of a Job: without failures that the end of the Job caused, or that a rule ignores.
func (a *analysis) member() family.Member {
	m := family.Member{Job: a.job, Status: Status(a.job), Fate: a.outcome.Fate, Reason: a.outcome.reason, Failures: map[int32]*cause.Failure{}}
	for i := range a.failures { // The latest first.
		f := &a.failures[i]
		if f.consequence || f.cause.Action == batchv1.PodFailurePolicyActionIgnore || m.Failures[f.pod.Index] != nil {
			continue
		}
		m.Failures[f.pod.Index] = &f.kind.failure
	}
	if groups := a.groups(); len(groups) > 0 && !groups[0].consequence {
		m.Most = &groups[0].kind.failure
	}
	return m
}
