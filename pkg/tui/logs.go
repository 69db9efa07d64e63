package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// logsPane is the log of a container of the chosen pod.
type logsPane struct {
	pod    *podScreen
	target snapshot.LogTarget
	filter filter
	// follows keeps the end on the screen.
	follows bool
	wraps   bool
	times   bool
	place   logPlace
	lines   logLines
	// paint is that of the last frame: it says how lines wrap.
	paint *paint
}

//nolint:gochecknoglobals // constants, as those of the key map
var (
	keyFollow    = bind("f", "follow on/off", "f")
	keyPrevious  = bind("p", "previous/current run", "p")
	keyContainer = bind("c", "next container", "c")
	keyLogTimes  = bind("t", "timestamps", "t")
	keyWrap      = bind("W", "wrap on/off", "W")
)

// reset begins at the end of another log.
func (o *logsPane) reset(target snapshot.LogTarget) {
	o.target, o.follows, o.place = target, true, logPlace{}
}

func (o *logsPane) key(k tea.KeyPressMsg, d *data) (action, bool) {
	if q, known := o.filter.handle(k); known {
		return action{ask: q}, true
	}
	switch {
	case matches(k, keyFollow):
		o.toggle(d)
	case matches(k, keyPrevious):
		o.reset(snapshot.LogTarget{Container: o.target.Container, Previous: !o.target.Previous})
	case matches(k, keyContainer):
		return action{say: o.nextContainer(d)}, true
	case matches(k, keyLogTimes):
		o.times = !o.times
	case matches(k, keyWrap):
		o.wraps = !o.wraps
		o.place.part = 0
	default:
		return o.scrollKey(k, d)
	}
	return none()
}

// scrollKey moves by the keys of lists.
func (o *logsPane) scrollKey(k tea.KeyPressMsg, d *data) (action, bool) {
	page := 1
	if o.paint != nil {
		page = max(1, o.paint.height-2)
	}
	switch {
	case matches(k, keyUp):
		o.move(-1, d)
	case matches(k, keyDown):
		o.move(1, d)
	case matches(k, keyPageUp):
		o.move(-page, d)
	case matches(k, keyPageDown):
		o.move(page, d)
	case matches(k, keyTop):
		o.follows, o.place = false, logPlace{}
	case matches(k, keyBottom):
		o.follows = true
	default:
		return action{}, false
	}
	return none()
}

func (o *logsPane) wheel(lines int, d *data) { o.move(lines, d) }

func (o *logsPane) keys() []keyGroup {
	return []keyGroup{{title: "Logs", bindings: append([]binding{keyFollow, keyPrevious, keyContainer}, append(o.filter.keys(), keyLogTimes, keyWrap)...)}}
}

// nextContainer reads the log of the next container, and says why if it does not.
func (o *logsPane) nextContainer(d *data) string {
	pod := o.pod.detail(d)
	if pod == nil || len(pod.Containers) == 0 {
		return "the containers are not known yet"
	}
	if len(pod.Containers) == 1 {
		return "the pod has one container only"
	}
	name := o.container(d)
	at := slices.IndexFunc(pod.Containers, func(c explain.ContainerInfo) bool { return c.Name == name || name == "" && c.Default })
	next := pod.Containers[(at+1)%len(pod.Containers)].Name
	o.reset(snapshot.LogTarget{Container: next, Previous: o.target.Previous})
	return ""
}

// container is the name of the one that is read, "" as long as it is not known.
func (o *logsPane) container(d *data) string {
	if o.target.Container != "" {
		return o.target.Container
	}
	if log := o.log(d); log != nil {
		return log.Container
	}
	return ""
}

// log is nil until the one that is asked for has come.
func (o *logsPane) log(d *data) *snapshot.Log {
	log := d.snap.Log
	if log == nil || log.Target != o.target || d.snap.Focus.Pod != o.pod.pod || d.snap.Focus.Job != o.pod.job {
		return nil
	}
	return log
}

// toggle begins to follow, or stays where it is.
func (o *logsPane) toggle(d *data) {
	if log := o.log(d); o.follows && log != nil && o.paint != nil {
		o.lines.derive(log, &o.filter)
		o.place = o.layout(o.paint, log).moved(o.shownPlace(o.paint, log), 0)
	}
	o.follows = !o.follows
}

// move scrolls, which ends following when it goes up.
func (o *logsPane) move(by int, d *data) {
	log := o.log(d)
	if log == nil || o.paint == nil || o.follows && by > 0 {
		return
	}
	o.lines.derive(log, &o.filter)
	o.place = o.layout(o.paint, log).moved(o.shownPlace(o.paint, log), by)
	o.follows = false
}

func (o *logsPane) body(p *paint, d *data) []layout.Line {
	log := o.log(d)
	switch {
	case o.pod.pod == "":
		return o.pod.noPod(p, o.pod.report(d))
	case log == nil:
		return d.waiting(p, "Reading the log of pod "+o.pod.pod)
	}
	o.lines.derive(log, &o.filter)
	above := []layout.Line{o.head(p, log)}
	if l := o.filter.line(p, len(o.lines.shown), len(log.Lines), "lines"); l != nil {
		above = append(above, l)
	}
	below := o.end(p, log)
	text := p.sized(p.Width, max(1, p.height-len(above)-len(below)))
	o.paint = text
	var lines []layout.Line
	if len(o.lines.shown) > 0 {
		lines = o.layout(text, log).from(o.shownPlace(text, log), text.height)
	}
	return append(append(above, lines...), below...)
}

// head says which log this is, and how much of it is kept.
func (o *logsPane) head(p *paint, log *snapshot.Log) layout.Line {
	l := layout.Of(layout.Text(layout.Muted, "container "), layout.Text(layout.Bold, log.Container))
	if log.Target.Previous {
		l = append(l, layout.Text(layout.Warn, ", the run before"))
	}
	if o.filter.text == "" && len(log.Lines) > 0 {
		l = append(l, layout.Text(layout.Muted, ", "+wording.Plural(int64(len(log.Lines)), "line", "lines")))
	}
	if log.Dropped > 0 {
		l = append(l, layout.Textf(layout.Muted, ", %d before them are not kept", log.Dropped))
	}
	state := layout.Of(layout.Text(layout.Good, "  follows "+p.Glyphs.Down))
	if !o.follows {
		state = layout.Of(layout.Text(layout.Warn, "  held, G follows"))
	} else if log.Ended || len(log.Lines) == 0 {
		state = nil
	}
	return layout.Spread(p.Width, l, state, p.Glyphs.Ellipsis)
}

// end says why there is nothing, or no more.
func (o *logsPane) end(p *paint, log *snapshot.Log) []layout.Line {
	switch {
	case log.Why != "":
		return p.Wrap(layout.Of(layout.Text(layout.Warn, p.Glyphs.Warn+" "+log.Why)), 2)
	case log.Ended && len(log.Lines) == 0:
		return []layout.Line{layout.Of(layout.Text(layout.Muted, fmt.Sprintf("%s The container wrote nothing.", p.Glyphs.Rule)))}
	case log.Ended:
		return []layout.Line{layout.Of(layout.Text(layout.Muted, fmt.Sprintf("%s End of the log.", p.Glyphs.Rule)))}
	case len(log.Lines) == 0:
		return []layout.Line{layout.Of(layout.Text(layout.Muted, "The container has written nothing yet."))}
	}
	return nil
}
