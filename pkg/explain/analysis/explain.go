// Package analysis explains a Job: it turns an input.Input into an explain.Report. The same input gives the same
// report: there is no I/O, no clock, and no state.
//
// Data flows one way, through packages that do not import later ones:
//
//	facts        the input, sorted, and the decision core's next changes
//	  endings      how pods were ended from outside their containers
//	  failures     the pods that failed, by cause
//	  account      all failures that the status counts, with or without pods
//	    indexes      the indexes by state
//	    policies     the rules, the limits, and the clocks that run
//	    reconciler   the controller of the Job, and whether it is alive
//	      problems     obstacles to the Job, and other problems
//	        verdict      the explanation in one sentence
//	        evidence     the chain of evidence behind it
//	        timeline     past moments and next steps
//	        advice       recommendations, with commands
//
// Each package is a function of earlier values, which it does not change. Values are counted first; package words then
// puts them into sentences.
package analysis

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/advice"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/evidence"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/indexes"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/policies"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/podproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/reconciler"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/timeline"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/verdict"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Explain reports what happens to the Job, and why. Options with a pod or an index narrow the evidence, causes, indexes,
// timeline, advice and pods; the parts about the whole Job stay.
func Explain(given input.Input, o explain.Options) explain.Report {
	given.Now = given.Now.Truncate(time.Second) // As all times of the API: remaining and elapsed time add up.

	// 1. The facts and the failures, of the whole Job and of the part that is shown.
	in := facts.Of(given)
	failed := failures.Find(in, explain.Options{})
	counted := account.Of(in, failed, explain.Options{})
	shown, shownCounted := failed, counted
	if o.IsNarrow() {
		shown = failures.Find(in, o)
		shownCounted = account.Of(in, shown, o)
	}

	// 2. Counts and measurements.
	r := explain.Report{
		TypeMeta:           metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.Kind},
		Job:                jobOf(in),
		ObservedAt:         metav1.NewTime(in.Now),
		Conditions:         conditions(in),
		Reconciler:         reconciler.Identify(in),
		Causes:             shownCounted.Causes,
		FailuresWithoutPod: shownCounted.Unexplained,
		Indexes:            indexes.Describe(in, failed, shown, o),
		FailurePolicy:      policies.FailurePolicy(in, failed),
		SuccessPolicy:      policies.SuccessPolicy(in),
		BackoffLimit:       policies.BackoffLimit(in, failed, counted),
		Waits:              policies.Clocks(in),
		Family:             familyOf(in, failed),
		Gaps:               in.Gaps,
	}
	r.Counts = countsOf(in, failed, r.Indexes)
	r.Counts.StoppedFailures = counted.CountedStopped
	r.Disruptions = account.Disruptions(in, shown, shownCounted, o)
	r.Pods, r.PodsOmitted = podInfos(in, shown, o)

	// 3. The problems. All values are known now and can be put into words.
	r.Problems = problems.Detect(in, &r.Reconciler)
	blocker := problems.Blocker(in, r.Problems)
	words.FillIn(&r, in.Spec)

	// 4. The conclusions: the verdict, its evidence, the timeline and next steps, and the advice.
	r.Verdict = verdict.Of(in, failed, &verdict.Values{
		Accounting: counted, Completed: r.Counts.Completed, DurationSeconds: r.Job.DurationSeconds, Success: r.SuccessPolicy,
		Reconciler: &r.Reconciler, Problems: r.Problems, Blocker: blocker, Family: r.Family, BackoffLimit: r.BackoffLimit, Disruptions: r.Disruptions,
	})
	advice.AddCommands(in, shown, r.Causes)
	hidden := slices.ContainsFunc(r.Problems, func(p explain.Problem) bool { return p.Kind == explain.ProblemErrorHidden })
	r.Evidence = evidence.Links(in, shown, &evidence.Values{Accounting: shownCounted, Limit: words.LimitEvidence(&r), Policy: r.FailurePolicy, Doubtful: hidden}, o)
	whole := r.Evidence
	if o.IsNarrow() {
		whole = evidence.Links(in, failed, &evidence.Values{Accounting: counted, Policy: r.FailurePolicy}, explain.Options{})
	}
	r.Verdict.Cause = decidingCause(&r.Verdict, whole)
	r.Timeline = timeline.Moments(in, shown, o)
	r.Next = timeline.NextSteps(in, failed, &timeline.Values{
		Blocker: blocker, Problems: r.Problems, Waits: r.Waits, Reconciler: &r.Reconciler, Success: r.SuccessPolicy, Indexes: r.Indexes, BackoffLimit: r.BackoffLimit,
	})
	r.Advice = advice.Collect(in, shown, &advice.Values{
		Accounting: shownCounted, End: &r.Verdict.End, IgnoredFailures: r.Counts.IgnoredFailures, Problems: r.Problems, Reconciler: &r.Reconciler, Family: r.Family, Disruptions: r.Disruptions,
	}, o)
	return r
}

// LogTargets returns at most n containers whose last log lines belong in the evidence, the most informative first; more of them if
// the logs that were read show that a retry failed because of an earlier attempt. Their pods exist; their logs may not.
func LogTargets(given input.Input, o explain.Options, n int) []input.LogTarget {
	return logTargets(facts.Of(given), o, n)
}

// LogTargetsWithOutput returns the LogTargets. If a Job without failures has none, it returns one container instead: an init container
// that takes long, one of the newest running pod, or, of a complete Job, of the newest pod that succeeded.
func LogTargetsWithOutput(given input.Input, o explain.Options, n int) []input.LogTarget {
	in := facts.Of(given)
	targets := logTargets(in, o, n)
	if len(targets) > 0 || o.IsNarrow() || in.Job.Status.Failed > 0 || in.Job.DeletionTimestamp != nil {
		return targets
	}
	if pod, container := podproblems.OutputOf(in); pod != nil {
		targets = append(targets, input.LogTarget{Pod: pod.Name, Container: container, Output: true})
	}
	return targets
}

// LogTargetsBeside returns the container that failed beside that of the first of the LogTargets, unless these are n.
func LogTargetsBeside(given input.Input, o explain.Options, n int) []input.LogTarget {
	in := facts.Of(given)
	failed := failures.Find(in, o)
	if len(failed.Examples) == 0 || len(logTargets(in, o, n)) >= n {
		return nil
	}
	if c := failed.Examples[0].Beside(); c != nil {
		return []input.LogTarget{{Pod: failed.Examples[0].Pod.Name, Container: c.Name, Restarts: c.Restarts}}
	}
	return nil
}

func logTargets(in *facts.Facts, o explain.Options, n int) []input.LogTarget {
	var targets []input.LogTarget
	add := func(p *input.Pod, c *input.Container) {
		if len(targets) < n && c != nil && p.Node != "" && !c.NeverStarted() && (c.Waiting == "" || c.Before) {
			targets = append(targets, input.LogTarget{Pod: p.Name, Container: c.Name, Previous: c.Before, Restarts: c.Restarts})
		}
	}
	failed := failures.Find(in, o)
	for _, f := range failed.Examples {
		add(f.Pod, f.Container())
	}
	for _, g := range failed.Groups {
		if f := g.Origin(in); f != nil {
			add(f.Pod, f.Container())
		}
	}
	for _, p := range in.Active {
		if o.HasPod(p) {
			add(p, in.CrashLoop(p))
			if e := podproblems.EndedContainer(in, p); e != nil && e.ExitCode != 0 {
				add(p, &e.Container)
			}
		}
	}
	return targets
}

// decidingCause returns the first container, or else the first pod, in the evidence chain of a Job that failed or is failing;
// nil if the chain has neither.
func decidingCause(v *explain.Verdict, chain []explain.Evidence) *explain.DecidingCause {
	if v.Outcome != reconcile.OutcomeFailed && v.Outcome != reconcile.OutcomeFailing {
		return nil
	}
	var found *explain.DecidingCause
	for i := range chain {
		switch link := &chain[i]; link.Kind {
		case explain.EvidencePod:
			if found != nil {
				return found // Further pods are only examples.
			}
			found = &explain.DecidingCause{Text: link.Text, Reason: link.Reason, Pod: link.Pod}
		case explain.EvidenceContainer:
			pod := ""
			if found != nil {
				pod = found.Pod
			}
			return &explain.DecidingCause{
				Text: link.Text, ExitCode: link.ExitCode, Reason: link.Reason, Container: link.Container, Pod: cmp.Or(link.Pod, pod),
			}
		}
	}
	return found
}
