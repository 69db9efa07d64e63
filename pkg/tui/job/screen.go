// Package job implements the screen of one Job: a header, and the tabs Overview, Indexes (the map), Policies, Failures, Pods
// and Timeline. The explanation of a Job is a separate screen.
package job

import (
	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// jobScreen shows one Job: a header, and one of several tabs below it.
type jobScreen struct {
	job  types.NamespacedName
	tabs screen.Tabs
}

// New returns the screen of a Job, with its Overview open.
func New(job types.NamespacedName) screen.Screen {
	return &jobScreen{job: job, tabs: screen.Tabs{Panes: []screen.Tab{
		{Name: "Overview", Pane: &screen.TextPane{Lines: overview, ShowsRest: true}},
		{Name: tabIndexes, Pane: &indexesPane{job: job}},
		{Name: "Policies", Pane: &screen.TextPane{Lines: policies, ShowsRest: true}},
		{Name: "Failures", Pane: &failuresPane{job: job}},
		{Name: tabPods, Pane: pods.NewList(job)},
		{Name: "Timeline", Pane: &timelinePane{}},
	}}}
}

// podsTab is the key of the tab Pods.
const podsTab = 5

// The tabs in which l does not open logs of the Job: it moves the cursor, or opens the log of the chosen pod.
const (
	tabIndexes = "Indexes"
	tabPods    = "Pods"
)

func (s *jobScreen) Focus() snapshot.Focus { return snapshot.Focus{Job: s.job} }

func (s *jobScreen) Crumb() string { return s.job.Namespace + "/" + s.job.Name }

func (s *jobScreen) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if a, known := s.tabs.Key(k, d); known {
		return a, true
	}
	switch {
	case widget.Matches(k, widget.KeyExplain):
		return screen.Action{Explain: s.job}, true
	case widget.Matches(k, widget.KeyLogs):
		return screen.Action{Open: pods.NewLogs(s.job)}, true
	}
	return screen.Action{}, false
}

// ChosenPod returns the pod under the cursor of the tab Pods, "" in other tabs.
func (s *jobScreen) ChosenPod(d *screen.Data) string {
	if list, is := s.tabs.Pane().(interface{ ChosenPod(*screen.Data) string }); is {
		return list.ChosenPod(d)
	}
	return ""
}

func (s *jobScreen) Wheel(lines int, d *screen.Data) { s.tabs.Pane().Wheel(lines, d) }

func (s *jobScreen) Keys() []widget.KeyGroup {
	keys, own := s.tabs.Keys(), []widget.Binding{widget.KeyExplain, screen.KeyTabs}
	if name := s.tabs.Panes[s.tabs.Current].Name; name != tabIndexes && name != tabPods { // In these tabs, l has another meaning.
		own = []widget.Binding{widget.KeyExplain, screen.KeyTabs, widget.KeyLogs}
	}
	return append(keys, widget.KeyGroup{Title: "Job", Bindings: own})
}

func (s *jobScreen) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Open(s.job)
	if j == nil {
		return d.Waiting(p, "Reading job "+s.Crumb())
	}
	lines := header(p, j)
	lines = append(lines, s.tabs.Line(p))
	return append(lines, s.tabs.Pane().Body(p.Sized(p.Width, max(1, p.Height-len(lines))), d)...)
}
