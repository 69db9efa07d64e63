package verdict

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// endOf returns how the Job ended, or is going to end.
func endOf(in *facts.Facts, failed *failures.Failures, v *Values) explain.End {
	d := &in.Decision
	e := explain.End{EndedBy: d.EndedBy, DecidedAt: explain.TimeOf(d.Since), Reason: d.Reason, Message: d.Message}
	e.Rule, e.RuleName = d.FailedBy()
	if !in.Finished() {
		e.WaitsFor = waitsFor(in, v.Reconciler)
	}
	switch d.EndedBy {
	case explain.EndedByBackoffLimit:
		limit := jobspec.BackoffLimit(in.Spec)
		e.Limit, e.Counted = ptr.To(int64(limit)), v.Accounting.Exceeding(limit)
		if n := jobspec.Parallelism(in.Spec); e.Counted > 1 && n > 1 {
			e.AtOnce = n
		}
		e.OnlyIndex = onlyIndex(in, failed, e.Counted)
		if in.RestartsCount() {
			e.Restarts = restartsOf(in, &failed.Restarts, limit)
		}
		if failed.Restarts.FailedJob {
			e.EndedBy = explain.EndedByRestarts
		}
	case explain.EndedByDeadline:
		e.Limit, e.Outlived = in.Spec.ActiveDeadlineSeconds, failed.Outlived
		if n := failed.NeverStarted; n != nil {
			e.EndedBy, e.NeverStarted, e.Outlived = explain.EndedByNeverStarting, &n.Problem, nil
		} else if e.Outlived == nil {
			if setLooped(in, failed, &e); e.Looped == "" && failed.Own > 0 && failed.Own == in.Job.Status.Failed {
				e.Counted = failed.Own
			} else if e.Looped == "" {
				e.CutShort = endings.FindCutShort(in)
			}
		}
	case explain.EndedByMaxFailedIndexes, explain.EndedByFailedIndexes:
		set, limit := in.Plan.Findings.FailedIndexes, in.Spec.MaxFailedIndexes
		if e.FailedIndexes, e.FailedIndexCount = set.String(), int32(set.Len()); d.EndedBy == explain.EndedByFailedIndexes {
			limit, e.IndexRule = in.Spec.BackoffLimitPerIndex, indexRule(failed)
		}
		if limit != nil {
			e.Limit = ptr.To(int64(*limit))
		}
	}
	return e
}

// onlyIndex returns the index that all failures had which used up the backoffLimit; nil if there are several, or if it is the only one.
func onlyIndex(in *facts.Facts, failed *failures.Failures, counted int32) (only *int32) {
	if !in.Indexed() || ptr.Deref(in.Spec.Completions, 1) < 2 || failed.Own < 2 || failed.Own != counted {
		return nil
	}
	for i := range failed.All {
		f := &failed.All[i]
		switch {
		case f.Consequence:
		case only == nil:
			only = &f.Pod.Index
		case *only != f.Pod.Index:
			return nil
		}
	}
	return only
}

// setLooped sets the container that was restarted again and again until the deadline of the Job, and how it ended.
func setLooped(in *facts.Facts, failed *failures.Failures, e *explain.End) {
	name, pod := endings.LoopedAtDeadline(in)
	p := input.PodNamed(in.Pods, pod)
	e.Looped, e.LoopedGone = name, name != "" && in.PodsRead && p == nil
	if exit := failed.Restarts.Exit; exit != nil && exit.Container == name {
		e.LoopedExit = exit
	}
	if p == nil {
		return
	}
	last := lists.First(p.Containers, func(c *input.Container) bool {
		return c.Name == name && c.Ended && c.ExitCode != 0 && (c.Before || !facts.IsStopped(c))
	})
	if last != nil {
		e.LoopedExit = ptr.To(facts.ExitOf(last))
	}
}

// restartsOf returns the restarts that used up the backoffLimit.
func restartsOf(in *facts.Facts, r *failures.Restarts, limit int32) *explain.Restarts {
	least := max(limit, 1)
	out := &explain.Restarts{Count: max(r.Count, least), Exact: r.Count >= least, Ending: r.Ending, Exit: r.Exit}
	out.Container, out.NoneLeft = restartedContainer(in), in.PodsRead && len(in.Pods) == 0 && in.SeenRestart == nil
	if c := cmp.Or(r.Container, in.SeenRestart); c != nil {
		out.Exit = &cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}
		out.Message, out.Error = c.Message, facts.EndErrorIn(c)
		if lines := in.LogOf(ptr.Deref(r.Pod, input.Pod{}).Name, c.Name); c.Message == "" && !facts.IsStopped(c) && !cause.NeverRan(c.Reason) {
			out.Error = cmp.Or(out.Error, meaning.KnownErrorIn(c.ExitCode, lines...))
			out.Message, _ = meaning.LastLineOf(c.ExitCode, lines)
		}
		if out.Init = c.Init; c.Init {
			out.Later, out.Servers = in.MainContainers(), facts.ServersOf(in, c.Name)
		}
		if out.Exact && r.Pod != nil && r.Pod.Restarts == r.Count && c.Restarts == r.Count {
			out.Container, out.Pod = c.Name, r.Pod.Name
		}
	}
	if r.Ending != nil {
		out.Message = r.ProbeMessage
	}
	return out
}

// restartedContainer returns the container that was restarted, by the template or by the events; "" if it may be one of several.
func restartedContainer(in *facts.Facts) string {
	if names := in.MainContainers(); len(names) == 1 && len(in.Spec.Template.Spec.InitContainers) == 0 {
		return names[0]
	}
	one := ""
	for i := range in.Events {
		name, is := meaning.OfRestart(in.Events[i].Reason, in.Events[i].Message)
		switch {
		case !is:
		case name == "" || one != "" && one != name:
			return ""
		default:
			one = name
		}
	}
	return one
}

// indexRule returns the rule that failed all of the failed indexes, nil if others have used up their attempts.
func indexRule(failed *failures.Failures) *explain.IndexRule {
	byRule := func(g *failures.Group) bool { return g.Kind.Cause.Action == batchv1.PodFailurePolicyActionFailIndex }
	if len(failed.Decisive) == 0 || slices.ContainsFunc(failed.Decisive, func(g *failures.Group) bool { return !byRule(g) }) {
		return nil
	}
	c := &failed.Decisive[0].Kind.Cause
	return &explain.IndexRule{Rule: c.Rule, Name: c.RuleName}
}

// waitsFor returns what the terminal condition waits for.
func waitsFor(in *facts.Facts, r *explain.Reconciler) *explain.WaitsFor {
	w := ptr.Deref(in.Plan.Findings.WaitFinish, reconcile.WaitFinish{})
	if !in.PodsRead {
		w = reconcile.WaitFinish{Active: in.Job.Status.Active, Terminating: ptr.Deref(in.Job.Status.Terminating, 0)}
	}
	return &explain.WaitsFor{Running: w.Active, Terminating: w.Terminating, Ended: w.Ended, Controller: r.Name()}
}

// matchedPod returns the pod that a rule with FailJob matched, nil if it is unknown.
func matchedPod(in *facts.Facts, failed *failures.Failures) *words.Matched {
	p, f := &in.Decision.MatchedPod, failed.Example
	if p.Condition == "" && p.Container == "" {
		return nil
	}
	m := &words.Matched{Pod: p.Name, Index: indexOf(in, p.Name), Condition: p.Condition, Exit: cause.Exit{Container: p.Container, ExitCode: p.ExitCode}}
	switch known := f != nil && f.Pod.Name == p.Name; {
	case known && p.Condition != "":
		m.Cause = ptr.To((&failures.Group{Kind: f.Kind, Failures: []*failures.Failure{f}}).Cause(in))
	case known:
		m.Exit.Reason, m.Message, m.Error = f.Kind.Cause.Reason, f.Message(), f.KnownError(in)
	}
	return m
}

// indexOf returns the index of a pod, -1 if it has none or no longer exists.
func indexOf(in *facts.Facts, pod string) int32 {
	if p := input.PodNamed(in.Pods, pod); p != nil {
		return max(p.Index, -1)
	}
	return -1
}

// mostly returns the most frequent cause, among the failures that failed the Job if they are known; nil if there is no known cause.
func mostly(in *facts.Facts, failed *failures.Failures, a *account.Accounting) *words.Mostly {
	causes := a.Causes
	if len(failed.Decisive) > 0 {
		causes = nil
		for _, g := range failed.Decisive {
			causes = append(causes, g.Cause(in))
		}
	}
	causes = byEnding(causes)
	m := &words.Mostly{Partly: a.Unexplained > 0}
	for i := range causes {
		if c := &causes[i]; !c.Consequence {
			m.Cause = cmp.Or(m.Cause, c)
			m.Failures += c.Count
			m.Causes++
		}
	}
	if m.Cause == nil {
		return nil
	}
	return m
}

// byEnding merges causes with the same Ending, because their exit codes are no causes, and returns the most frequent first.
func byEnding(causes []explain.Cause) []explain.Cause {
	var out []explain.Cause
	for _, c := range causes {
		same := func(x explain.Cause) bool {
			return x.Ending != nil && c.Ending != nil && *x.Ending == *c.Ending && x.Consequence == c.Consequence
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Count += c.Count
		} else {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y explain.Cause) int { return cmp.Compare(y.Count, x.Count) })
	return out
}
