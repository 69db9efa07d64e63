package words

import "github.com/batchjob-dev/kubectl-batchjob/pkg/explain"

// FillIn puts the values of a report into words that everything after them refers to: who runs the Job, its policies, its
// clocks, and its problems.
func FillIn(r *explain.Report) {
	now := r.ObservedAt.Time
	r.Reconciler.Text = ReconcilerText(&r.Reconciler, now)
	if p := r.FailurePolicy; p != nil {
		for i := range p.Rules {
			p.Rules[i].Requirement = requirement(p.Rules[i].OnExitCodes, p.Rules[i].OnPodConditions)
		}
	}
	if p := r.SuccessPolicy; p != nil {
		for i := range p.Rules {
			p.Rules[i].Text = successRuleText(&p.Rules[i])
		}
	}
	for i := range r.Waits {
		r.Waits[i].Text = waitText(&r.Waits[i])
	}
	for i := range r.Problems {
		r.Problems[i].Text = ProblemText(&r.Problems[i], now, &r.Reconciler)
	}
}
