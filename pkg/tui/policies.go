package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// policiesPane shows the failure policy, the success criteria, and the limits.
type policiesPane struct {
	scroll scroll
}

func newPoliciesPane() *policiesPane { return &policiesPane{} }

func (o *policiesPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *policiesPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *policiesPane) keys() []keyGroup { return nil }

func (o *policiesPane) body(p *paint) []layout.Line {
	j := p.data.job
	lines := []layout.Line{nil, p.title("Failure policy", "the first rule that matches decides")}
	if rules := failurePolicyLines(p, j, false); rules != nil {
		lines = append(lines, rules...)
	} else {
		lines = append(lines, p.wrap(layout.Of(layout.Text(styleMuted, "No podFailurePolicy: every failure counts against the limits.")), 0)...)
	}
	lines = append(lines, nil, p.title("Success criteria", successNote(j)))
	lines = append(lines, successLines(p, j)...)
	if limits := limitLines(p, j); limits != nil {
		lines = append(lines, nil, p.title("Limits", limitsNote(j)))
		lines = append(lines, limits...)
	}
	lines = append(lines, nil, p.title("Replacement", ""))
	lines = append(lines, p.wrap(layout.Plainly(replacement(j)), 0)...)
	return o.scroll.page(p, lines)
}

// limitsNote says what the numbers are.
func limitsNote(j *jobData) string {
	if isDecided(j) {
		return "used"
	}
	return "used, and left"
}

func successNote(j *jobData) string {
	if j.SuccessPolicy == nil {
		return ""
	}
	return "the first that is met ends the Job"
}

// replacement says when a pod gets a successor (KEP-3939).
func replacement(j *jobData) string {
	if j.Job.PodReplacementPolicy == "Failed" {
		return "podReplacementPolicy Failed: a pod is replaced once it has ended; terminating ones hold their place."
	}
	return "podReplacementPolicy TerminatingOrFailed: a pod is replaced as soon as it is being deleted."
}
