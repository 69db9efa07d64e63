package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// jobScreen is one Job: a header, and below it one of several tabs.
type jobScreen struct {
	job  snapshot.JobKey
	tabs tabs
}

func newJobScreen(job snapshot.JobKey) *jobScreen {
	s := &jobScreen{job: job}
	s.tabs = tabs{panes: []namedPane{
		{"Overview", &textPane{text: overview, counts: true}},
		{"Indexes", newIndexesPane(s)},
		{"Policies", &textPane{text: policies, counts: true}},
		{"Failures", newFailuresPane(s)},
		{"Pods", newPodsPane(s)},
		{"Timeline", newTimelinePane()},
	}}
	return s
}

// The tabs of the Job screen, in their order.
const (
	tabOverview = iota
	tabIndexes
	tabPolicies
	tabFailures
	tabPods
	tabTimeline
)

func (s *jobScreen) focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

func (s *jobScreen) crumb() string { return s.job.Namespace + "/" + s.job.Name }

func (s *jobScreen) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if a, known := s.tabs.key(k, d); known {
		return a, true
	}
	if matches(k, keyExplain) {
		return action{explain: s.job}, true
	}
	return action{}, false
}

func (s *jobScreen) wheel(lines int, d *data) { s.tabs.current().wheel(lines, d) }

func (s *jobScreen) keys() []keyGroup {
	return append(s.tabs.keys(), keyGroup{title: "Job", bindings: []binding{keyExplain, keyTabs}})
}

func (s *jobScreen) body(p *paint, d *data) []layout.Line {
	j := d.open(s.job)
	if j == nil {
		return d.waiting(p, "Reading job "+s.crumb())
	}
	lines := jobHeader(p, j)
	lines = append(lines, s.tabs.line(p))
	return append(lines, s.tabs.current().body(p.sized(p.Width, max(1, p.height-len(lines))), d)...)
}
