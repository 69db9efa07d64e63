package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Content that does not fit can be scrolled to, and the last line shows that there is more.
func TestPoliciesScroll(t *testing.T) {
	b := open(t, load(t, "failure-policy-named"), size{60, 18}, nil, "3")
	shows(b, "▼ 13 more", "Failure policy")
	hides(b, "podReplacementPolicy")
	scrolls(b)
	b.press("G")
	shows(b, "terminating ones hold")
	hides(b, "Failure policy")
	b.press("g")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	hides(b, "Failure policy")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	shows(b, "Failure policy")
}

// KEP-3939: the tab says when a pod is replaced.
func TestPoliciesShowWhenPodsAreReplaced(t *testing.T) {
	s := load(t, "running")
	r := s.Job.Report
	r.Job.PodReplacementPolicy = "Failed"
	b := open(t, s, size{160, 50}, nil, "3")
	shows(b, "podReplacementPolicy Failed: a pod is replaced once it has ended")
	r.Job.PodReplacementPolicy = "TerminatingOrFailed"
	b = open(t, s, size{160, 50}, nil, "3")
	shows(b, "podReplacementPolicy TerminatingOrFailed: a pod is replaced as soon as it is being deleted")
}
