package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// podScreen is one index with its attempts, or one pod: the attempts above, and below them
// tabs about the chosen one.
type podScreen struct {
	job snapshot.JobKey
	// index is nil for a pod of a NonIndexed Job.
	index *int32
	// pod is the chosen one, "" as long as none is known.
	pod      string
	attempts podAttempts
	tabs     tabs
	logs     *logsPane
}

// The tabs of the pod screen, in their order.
const (
	tabPod = iota
	tabLogs
	tabEvents
)

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyPodTabs = bind("1-3", "tab", "1", "2", "3")
	keyOlder   = bind("[", "older attempt", "[")
	keyNewer   = bind("]", "newer attempt", "]")
)

// newPodScreen shows a pod, or an index; with an index and no pod, its latest.
func newPodScreen(job snapshot.JobKey, pod string, index *int32) *podScreen {
	s := &podScreen{job: job, pod: pod, index: index}
	s.logs = &logsPane{pod: s, follows: true, wraps: true}
	s.tabs = tabs{panes: []namedPane{
		{"Pod", &textPane{text: s.podText}},
		{"Logs", s.logs},
		{"Events", &textPane{text: s.eventsText}},
	}}
	return s
}

func (s *podScreen) focus() snapshot.Focus {
	f := snapshot.Focus{Job: s.job, Pod: s.pod}
	if s.tabs.at == tabLogs && s.pod != "" {
		target := s.logs.target
		f.Log = &target
	}
	return f
}

func (s *podScreen) crumb() string {
	if s.index != nil {
		return fmt.Sprintf("index %d", *s.index)
	}
	return s.pod
}

// follow keeps the attempts, and chooses one if none is chosen.
func (s *podScreen) follow(d *data) {
	r := s.report(d)
	if r == nil {
		return
	}
	s.attempts.learn(r, s.index, s.pod)
	if s.pod == "" && len(s.attempts.known) > 0 {
		s.choose(0)
	}
}

// report is nil until that of the Job has come.
func (s *podScreen) report(d *data) *explain.Report {
	if j := d.open(s.job); j != nil {
		return j.Report
	}
	return nil
}

// detail is what was read of the chosen pod, nil until that has come.
func (s *podScreen) detail(d *data) *explain.PodDetail {
	pod := d.snap.Pod
	if pod == nil || pod.Name != s.pod || d.snap.Focus.Job != s.job {
		return nil
	}
	return pod
}

// choose makes an attempt the one that is looked at.
func (s *podScreen) choose(n int) {
	if n < 0 || n >= len(s.attempts.known) {
		return
	}
	s.attempts.list.move(n - s.attempts.list.cursor)
	if name := s.attempts.known[n].Name; name != s.pod {
		s.pod = name
		s.logs.reset(snapshot.LogTarget{})
	}
}

func (s *podScreen) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if s.attemptKey(k) {
		return none()
	}
	if a, known := s.tabs.key(k, d); known {
		return a, true
	}
	switch {
	case matches(k, keyLogs):
		s.tabs.at = tabLogs
	case matches(k, keyExplain):
		return action{explain: s.job}, true
	case matches(k, keyCopy) && s.pod != "":
		return action{copy: s.pod}, true
	default:
		return action{}, false
	}
	return none()
}

// attemptKey changes the attempt: with the arrows too, where there are several and no log
// needs them.
func (s *podScreen) attemptKey(k tea.KeyPressMsg) bool {
	arrows := len(s.attempts.known) > 1 && s.tabs.at != tabLogs
	switch at := s.attempts.at(s.pod); {
	case matches(k, keyOlder), arrows && matches(k, keyDown):
		s.choose(at + 1)
	case matches(k, keyNewer), arrows && matches(k, keyUp):
		s.choose(at - 1)
	default:
		return false
	}
	return true
}

func (s *podScreen) wheel(lines int, d *data) { s.tabs.current().wheel(lines, d) }

func (s *podScreen) keys() []keyGroup {
	own := []binding{keyPodTabs, keyLogs, keyExplain, keyCopy}
	if len(s.attempts.known) > 1 {
		older, newer := keyOlder, keyNewer
		if s.tabs.at != tabLogs { // There the arrows scroll.
			older = bind("[/↓/j", "older attempt", "[", "down", "j")
			newer = bind("]/↑/k", "newer attempt", "]", "up", "k")
		}
		own = append([]binding{older, newer}, own...)
	}
	return append(s.tabs.keys(), keyGroup{title: "Pod", bindings: own})
}

func (s *podScreen) body(p *paint, d *data) []layout.Line {
	r := s.report(d)
	if r == nil {
		return d.waiting(p, "Reading job "+s.job.Namespace+"/"+s.job.Name)
	}
	lines := []layout.Line{s.title(p, d.job)}
	most := max(2, p.height/3-1)
	if s.tabs.at == tabLogs {
		most = max(1, p.height/6-1)
	}
	lines = append(lines, s.attempts.table(p, r, s.pod, most)...)
	lines = append(lines, s.tabs.line(p))
	return append(lines, s.tabs.current().body(p.sized(p.Width, max(1, p.height-len(lines))), d)...)
}

// title says how far the index is, or which pod this is.
func (s *podScreen) title(p *paint, j *jobData) layout.Line {
	if s.index == nil {
		return p.Cut(layout.Of(layout.Text(layout.Bold, "Pod "+s.pod)), p.Width)
	}
	l := layout.Of(layout.Textf(layout.Bold, "Index %d", *s.index), layout.Blank(2))
	l = append(l, s.stateOnMap(p, j)...)
	if info := indexInfo(j.Report, *s.index); info != nil {
		l = append(l, indexCounts(p, info)...)
	}
	return p.Cut(l, p.Width)
}

// stateOnMap is the state of the index, as on the map.
func (s *podScreen) stateOnMap(p *paint, j *jobData) layout.Line {
	if j.indexes == nil {
		return nil
	}
	state, known := j.indexes.State(*s.index)
	if !known {
		return layout.Of(layout.Text(layout.Muted, "the Job has no such index"))
	}
	mark := indexmap.Mark(state)
	return layout.Of(layout.Text(mark.Style()|layout.Bold, mark.Glyph(p.ASCII)+" "+stateWord(j, state)))
}
