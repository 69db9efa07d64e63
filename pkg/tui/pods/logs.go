package pods

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// logsPane shows the log of a container of the chosen pod.
type logsPane struct {
	pod    *podScreen
	target snapshot.LogTarget
	filter widget.Filter
	// follows keeps the end of the log on the screen.
	follows bool
	wraps   bool
	times   bool
	// at is the pod that n or N has chosen in the logs of failed pods, until the user scrolls.
	at    string
	place logPlace
	laid  logLayout
	// paint is the Paint of the last frame, which determines how lines wrap.
	paint *widget.Paint
}

var (
	keyFollow    = widget.Bind("f", "follow on/off", "f")
	keyPrevious  = widget.Bind("p", "previous/current run", "p")
	keyContainer = widget.Bind("c", "next container", "c")
	keyLogTimes  = widget.Bind("t", "timestamps", "t")
	keyWrap      = widget.Bind("W", "wrap on/off", "W")
)

// reset switches to another log, and shows its end.
func (o *logsPane) reset(target snapshot.LogTarget) {
	o.target, o.follows, o.place = target, true, logPlace{}
}

func (o *logsPane) Key(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	if q, known := o.filter.Key(k); known {
		return screen.Action{Ask: q}, true
	}
	switch {
	case widget.Matches(k, keyFollow):
		o.toggle(d)
	case o.target.Failed && widget.Matches(k, keyNextPod):
		o.jump(1, d)
	case o.target.Failed && widget.Matches(k, keyPreviousPod):
		o.jump(-1, d)
	case o.target.Failed && (widget.Matches(k, keyPrevious) || widget.Matches(k, keyContainer)):
		return screen.Action{}, false
	case widget.Matches(k, keyPrevious):
		o.reset(snapshot.LogTarget{Container: o.target.Container, Previous: !o.target.Previous})
	case widget.Matches(k, keyContainer):
		return screen.Action{Notice: o.nextContainer(d)}, true
	case widget.Matches(k, keyLogTimes):
		o.times = !o.times
	case widget.Matches(k, keyWrap):
		o.wraps = !o.wraps
		o.place.part = 0
	default:
		return o.scrollKey(k, d)
	}
	return screen.Done()
}

// scrollKey handles the keys that scroll.
func (o *logsPane) scrollKey(k tea.KeyPressMsg, d *screen.Data) (screen.Action, bool) {
	height := 2
	if o.paint != nil {
		height = o.paint.Height - 1
	}
	switch by, known := widget.StepOf(k, 0, height); {
	case !known:
		return screen.Action{}, false
	case widget.Matches(k, widget.KeyTop):
		o.follows, o.place, o.at = false, logPlace{}, ""
	case widget.Matches(k, widget.KeyBottom):
		o.follows = true
	default:
		o.move(by, d)
	}
	return screen.Done()
}

func (o *logsPane) Wheel(lines int, d *screen.Data) { o.move(lines, d) }

func (o *logsPane) Keys() []widget.KeyGroup {
	own := []widget.Binding{keyFollow, keyPrevious, keyContainer}
	more := []widget.Binding{keyLogTimes, keyWrap}
	if o.target.Failed {
		own, more = []widget.Binding{keyNextPod, keyPreviousPod}, append(more, keyFollow)
	}
	return []widget.KeyGroup{{Title: "Logs", Bindings: slices.Concat(own, o.filter.Keys(), more)}}
}

// nextContainer switches to the log of the next container, or returns a notice why it cannot.
func (o *logsPane) nextContainer(d *screen.Data) string {
	pod := o.pod.detail(d)
	if pod == nil || len(pod.Containers) == 0 {
		return "the containers are not known yet"
	}
	if len(pod.Containers) == 1 {
		return "the pod has one container only"
	}
	name := o.target.Container
	if log := o.log(d); name == "" && log != nil {
		name = log.Container
	}
	at := slices.IndexFunc(pod.Containers, func(c explain.ContainerInfo) bool { return c.Name == name || name == "" && c.Default })
	next := pod.Containers[(at+1)%len(pod.Containers)].Name
	o.reset(snapshot.LogTarget{Container: next, Previous: o.target.Previous})
	return ""
}

// log returns the log, or nil until the requested one has arrived.
func (o *logsPane) log(d *screen.Data) *snapshot.Log {
	log := d.Snap.Log
	if log == nil || log.Target != o.target || d.Snap.Focus.Pod != o.pod.pod || d.Snap.Focus.Job != o.pod.job {
		return nil
	}
	return log
}

// toggle starts or stops following the end.
func (o *logsPane) toggle(d *screen.Data) {
	followed := o.follows
	o.move(0, d)
	o.follows = !followed
}

// move scrolls; scrolling up stops following.
func (o *logsPane) move(by int, d *screen.Data) {
	log := o.log(d)
	if log == nil || o.paint == nil || o.follows && by > 0 {
		return
	}
	l := o.layout(o.paint, log)
	o.place = l.moved(l.start(), by)
	o.follows, o.at = false, ""
}

func (o *logsPane) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	log := o.log(d)
	switch {
	case log == nil && o.target.Failed:
		return d.Waiting(p, "Reading the logs of the failed pods")
	case o.pod.pod == "" && !o.target.Failed:
		return o.pod.noPod(p, o.pod.report(d))
	case log == nil:
		return d.Waiting(p, "Reading the log of pod "+o.pod.pod)
	}
	var above, below []layout.Line
	if l := o.filter.Line(p, len(o.layout(p, log).shown), len(log.Lines), "lines"); l != nil {
		above = append(above, l)
	}
	if below = o.end(p, log); o.target.Failed {
		below = o.missing(p, log, o.pod.report(d))
	}
	o.paint = p.Sized(p.Width, max(1, p.Height-1-len(above)-len(below)))
	lines := o.layout(o.paint, log).lines()
	return slices.Concat([]layout.Line{o.head(p, log)}, above, lines, below)
}

// head returns the line that describes the log and how much of it is kept.
func (o *logsPane) head(p *widget.Paint, log *snapshot.Log) layout.Line {
	l := layout.Of(layout.Text(layout.Muted, "container "), layout.Text(layout.Bold, log.Container))
	if o.target.Failed {
		l = layout.Of(layout.Text(layout.Muted, "logs of failed pods"))
	}
	if log.Target.Previous {
		l = append(l, layout.Text(layout.Warn, ", previous run"))
	}
	if o.filter.Text == "" && len(log.Lines) > 0 {
		l = append(l, layout.Text(layout.Muted, ", "+wording.Plural(len(log.Lines), "line", "lines")))
	}
	if log.Dropped > 0 {
		l = append(l, layout.Text(layout.Muted, ", "+wording.Count(log.Dropped, "earlier lines not kept")))
	}
	state := layout.Of(layout.Text(layout.Good, "  following "+p.Glyphs.Down))
	switch {
	case o.target.Failed && !o.follows:
		state = o.laid.whichPod()
	case !o.follows:
		state = layout.Of(layout.Text(layout.Warn, "  held, G follows"))
	case log.Ended || len(log.Lines) == 0:
		state = nil
	}
	return layout.Spread(p.Width, l, state, p.Glyphs.Ellipsis)
}

// end says why there are no lines, or no more.
func (o *logsPane) end(p *widget.Paint, log *snapshot.Log) []layout.Line {
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
