package pods

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// podScreen shows one index with its attempts, or one pod: the attempts at the top, and below them tabs about the chosen one.
type podScreen struct {
	job types.NamespacedName
	// index is nil for a pod of a NonIndexed Job.
	index *int32
	// pod is the name of the chosen pod, "" until one is known. picks is set if the screen chooses the pod with the most
	// informative log.
	pod      string
	picks    bool
	attempts attempts
	tabs     screen.Tabs
	logs     *logsPane
}

// The tabs of the pod screen, in order.
const (
	tabPod = iota
	tabLogs
	tabEvents
)

var (
	keyPodTabs = widget.Bind("1-3", "tab", "1", "2", "3")
	keyOlder   = widget.Bind("[", "older attempt", "[")
	keyNewer   = widget.Bind("]", "newer attempt", "]")
)

// NewScreen returns the screen of a pod or an index; with an index and no pod, it shows the latest pod.
func NewScreen(job types.NamespacedName, pod string, index *int32) screen.Screen {
	return newScreen(job, pod, index)
}

// NewLogs returns a screen with the most informative log of a Job: of a pod with the most frequent cause, or else of the pod
// that needs attention first.
func NewLogs(job types.NamespacedName) screen.Screen {
	s := newScreen(job, "", nil)
	s.picks, s.tabs.Current = true, tabLogs
	return s
}

func newScreen(job types.NamespacedName, pod string, index *int32) *podScreen {
	s := &podScreen{job: job, pod: pod, index: index}
	s.logs = &logsPane{pod: s, follows: true, wraps: true, filter: widget.Filter{ByRegexp: true}}
	s.tabs = screen.Tabs{Panes: []screen.Tab{
		{Name: "Pod", Pane: &screen.TextPane{Lines: s.podText}},
		{Name: "Logs", Pane: s.logs},
		{Name: "Events", Pane: &screen.TextPane{Lines: s.eventsText}},
	}}
	return s
}

func (s *podScreen) Focus() snapshot.Focus {
	f := snapshot.Focus{Job: s.job, Pod: s.pod}
	if s.tabs.Current == tabLogs && s.pod != "" {
		target := s.logs.target
		f.Log = &target
	}
	return f
}

func (s *podScreen) Crumb() string {
	switch {
	case s.index != nil:
		return fmt.Sprintf("index %d", *s.index)
	case s.pod == "":
		return "Logs"
	}
	return s.pod
}

// Follow updates the attempts, and chooses one if none is chosen.
func (s *podScreen) Follow(d *screen.Data) {
	r := s.report(d)
	if r == nil {
		return
	}
	if s.pod == "" && s.picks {
		if pod := telling(r); pod != nil {
			s.pod, s.index = pod.Name, pod.Index
		}
	}
	s.attempts.learn(r, s.index, s.pod)
	if s.pod == "" && len(s.attempts.known) > 0 {
		s.choose(0)
	}
}

// report returns the Report of the Job, nil until it has arrived.
func (s *podScreen) report(d *screen.Data) *explain.Report {
	if j := d.Open(s.job); j != nil {
		return j.Report
	}
	return nil
}

// detail returns the details of the chosen pod, nil until they have arrived.
func (s *podScreen) detail(d *screen.Data) *explain.PodDetail {
	pod := d.Snap.Pod
	if pod == nil || pod.Name != s.pod || d.Snap.Focus.Job != s.job {
		return nil
	}
	return pod
}

// choose shows the n-th attempt.
func (s *podScreen) choose(n int) {
	if n < 0 || n >= len(s.attempts.known) {
		return
	}
	s.attempts.list.Move(n - s.attempts.list.Cursor)
	if name := s.attempts.known[n].Name; name != s.pod {
		s.pod = name
		s.logs.reset(snapshot.LogTarget{})
	}
}

func (s *podScreen) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if s.attemptKey(k) {
		return screen.Done()
	}
	if a, known := s.tabs.Key(k, d); known {
		return a, true
	}
	switch {
	case widget.Matches(k, widget.KeyLogs):
		s.tabs.Current = tabLogs
	case widget.Matches(k, widget.KeyExplain):
		return screen.Action{Explain: s.job}, true
	case widget.Matches(k, widget.KeyCopy) && s.pod != "":
		return screen.Action{Copy: s.pod}, true
	default:
		return screen.Action{}, false
	}
	return screen.Done()
}

// attemptKey handles the keys that change the attempt. The arrows do so, too, if there are several attempts and no log to
// scroll.
func (s *podScreen) attemptKey(k tea.KeyPressMsg) bool {
	arrows := len(s.attempts.known) > 1 && s.tabs.Current != tabLogs
	switch at := s.attempts.at(s.pod); {
	case widget.Matches(k, keyOlder), arrows && widget.Matches(k, widget.KeyDown):
		s.choose(at + 1)
	case widget.Matches(k, keyNewer), arrows && widget.Matches(k, widget.KeyUp):
		s.choose(at - 1)
	default:
		return false
	}
	return true
}

func (s *podScreen) Wheel(lines int, d *screen.Data) { s.tabs.Pane().Wheel(lines, d) }

func (s *podScreen) Keys() []widget.KeyGroup {
	own := []widget.Binding{keyPodTabs, widget.KeyLogs, widget.KeyExplain, widget.KeyCopy}
	if len(s.attempts.known) > 1 {
		older, newer := keyOlder, keyNewer
		if s.tabs.Current != tabLogs { // In the tab Logs, the arrows scroll.
			older = widget.Bind("[/↓/j", "older attempt", "[", "down", "j")
			newer = widget.Bind("]/↑/k", "newer attempt", "]", "up", "k")
		}
		own = append([]widget.Binding{older, newer}, own...)
	}
	return append(s.tabs.Keys(), widget.KeyGroup{Title: "Pod", Bindings: own})
}

func (s *podScreen) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	r := s.report(d)
	if r == nil {
		return d.Waiting(p, "Reading job "+s.job.Namespace+"/"+s.job.Name)
	}
	if s.pod == "" && s.picks {
		return append([]layout.Line{nil}, p.Wrap(layout.Plainly(noPods(r)), 0)...)
	}
	lines := []layout.Line{s.title(p, d.Job)}
	most := max(2, p.Height/3-1)
	if s.tabs.Current == tabLogs {
		most = max(1, p.Height/6-1)
	}
	lines = append(lines, s.attempts.table(p, r, s.pod, most)...)
	lines = append(lines, s.tabs.Line(p))
	return append(lines, s.tabs.Pane().Body(p.Sized(p.Width, max(1, p.Height-len(lines))), d)...)
}

// title returns the index with its state, or the name of the pod.
func (s *podScreen) title(p *widget.Paint, j *screen.Job) layout.Line {
	if s.index == nil {
		return p.Cut(layout.Of(layout.Text(layout.Bold, "Pod "+s.pod)), p.Width)
	}
	l := layout.Of(layout.Textf(layout.Bold, "Index %d", *s.index), layout.Blank(2))
	if j.Map != nil {
		// The state has the same mark as on the map.
		state := layout.Text(layout.Muted, "the Job has no such index")
		if on, known := j.Map.State(*s.index); known {
			mark := indexmap.Mark(on)
			state = layout.Text(mark.Style()|layout.Bold, mark.Glyph(p.ASCII)+" "+j.StateWord(on))
		}
		l = append(l, state)
	}
	if info := screen.IndexInfo(j.Report, *s.index); info != nil {
		l = append(l, indexCounts(p, info)...)
	}
	return p.Cut(l, p.Width)
}
