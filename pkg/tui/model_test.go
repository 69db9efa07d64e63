package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// gives returns the name of the type of a command's message; "" for no command.
func gives(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	return fmt.Sprintf("%T", cmd())
}

const (
	quits      = "tea.QuitMsg"
	interrupts = "tea.InterruptMsg"
)

// jobs opens the list, and from it the Job of a fixture.
func jobs(t *testing.T, fixture string) (*testbed, *snapshot.Snapshot) {
	t.Helper()
	s := load(t, fixture)
	list := *s
	list.Focus, list.Job = snapshot.Focus{}, nil
	b := open(t, &list, size{80, 24}, nil)
	return b, s
}

// Issue 6, 5 and issue 17: esc, q and backspace go back; on the first screen, only q quits.
func TestEscapeGoesBack(t *testing.T) {
	for _, key := range []string{"esc", "q", "backspace"} {
		b, s := jobs(t, "three-causes")
		shows(b, "q quit")
		b.press("enter")
		shows(b, "Reading job three-causes/three-causes", "esc/q back")
		b.send(snapshotMsg{snap: s})
		shows(b, "Jobs › three-causes/three-causes", "1 Overview")
		b.press("e")
		shows(b, "› Explain")
		for _, screen := range []string{"1 Overview", "q quit"} {
			assert.Equalf(t, gives(b.press(key)), "", "%q gives", key)
			shows(b, screen)
		}
		want := map[string]string{"q": quits}[key]
		assert.Equalf(t, gives(b.press(key)), want, "%q on the first screen gives", key)
		if want == "" {
			shows(b, "1 Job", "q quits")
		}
		// Each screen's Focus is passed to the Source once.
		var looked []string
		for _, f := range b.source.looked {
			looked = append(looked, fmt.Sprintf("%s/%s %v", f.Job.Name, f.Pod, f.Preview))
		}
		assert.Equal(t, strings.Join(looked, ", "), "three-causes/ false, three-causes/ true", "looked at")
	}
}

// ctrl+c quits from everywhere, also from a prompt and the help.
func TestInterruptEndsEverywhere(t *testing.T) {
	for _, keys := range [][]string{{}, {"?"}, {"e"}, {"6", "/"}, {"6", "/", "a"}, {"space"}, {"5", "enter"}} {
		b := open(t, load(t, "three-causes"), size{80, 24}, nil, keys...)
		assert.Equalf(t, gives(b.press("ctrl+c")), interrupts, "after %v it gives", keys)
	}
}

// space freezes the view and its clocks; later Snapshots are shown afterward.
func TestSpaceHoldsThePicture(t *testing.T) {
	s := load(t, "running-success-policy")
	b := open(t, s, size{80, 24}, nil)
	shows(b, "3/10", "2s so far", "space pause")
	b.press("space")
	shows(b, "‖ paused", "space resume")
	for i := range 3 {
		done := int32(4 + i)
		news := changed(t, "running-success-policy", func(r *explain.Report) {
			r.Indexes.CompletedCount, r.ObservedAt = done, metav1.NewTime(r.ObservedAt.Add(10*time.Second))
		})
		news.Seq = uint64(2 + i)
		if cmd := b.send(snapshotMsg{snap: news}); cmd == nil {
			t.Error("it stops asking for news")
		}
	}
	b.now = b.now.Add(10 * time.Second)
	b.send(tickMsg(b.now))
	shows(b, "3/10", "2s so far", "‖ paused", b.now.Format("15:04:05"))
	assert.Equal(t, b.pause.latest(b.data.Snap).Seq, 4, "the newest")
	b.press("space")
	shows(b, "6/10", "12s so far")
	hides(b, "paused")
	after := *s
	after.Seq = 9
	b.send(snapshotMsg{snap: &after})
	assert.Equal(t, b.pause.latest(b.data.Snap).Seq, 9, "the newest")
	shows(b, "3/10")
	// Without a new Snapshot, nothing changes.
	b.press("space", "space")
	shows(b, "3/10")
}

// r switches between "3s ago" and the time of day.
func TestTimesAreRelativeOrOfTheDay(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	shows(b, "took 4s, 0s ago")
	b.press("r")
	shows(b, "took 4s, 04:21:37")
	b.press("r")
	shows(b, "took 4s, 0s ago")
}

// w asks for a file, and writes the current Snapshot; a notice says to which file, or why it failed. Esc writes nothing.
// Requirements: VIE-11
func TestSnapshotIsWritten(t *testing.T) {
	s := load(t, "quota")
	b := open(t, s, size{80, 24}, nil, "w")
	shows(b, "write to: batchjob-default-train.json")
	b.do(b.press("esc"))
	b.press("w")
	b.press(slices.Repeat([]string{"backspace"}, len("batchjob-default-train.json"))...)
	b.do(b.press("enter"))
	shows(b, "not written: no file name")
	b.press("w")
	cmd := b.press("enter")
	if b.saved != nil {
		t.Fatal("a file is written without an answer, or while keys wait")
	}
	b.send(cmd())
	if b.saved != s || b.savedTo != "batchjob-default-train.json" {
		t.Errorf("something else is written to %q", b.savedTo)
	}
	shows(b, "written to batchjob-default-train.json")
	b.press("w")
	b.write(".old")
	b.send(b.press("enter")())
	assert.Equal(t, b.savedTo, "batchjob-default-train.json.old", "written to")

	b = open(t, s, size{80, 24}, func(o *Options) {
		o.Save = func(*snapshot.Snapshot, string) error { return errors.New("no space left\x1b[2J") }
	})
	b.press("w")
	b.send(b.press("enter")())
	shows(b, `not written: no space left\x1b[2J`)

	for _, change := range []func(*Options){func(o *Options) { o.Save = nil }, nil} {
		nothing := &snapshot.Snapshot{Seq: 1, Time: s.Time}
		if change != nil {
			nothing = s
		}
		b = open(t, nothing, size{80, 24}, change)
		if cmd := b.press("w"); cmd != nil {
			t.Error("something is written")
		}
		shows(b, "there is nothing to write yet")
	}
}

// m releases the mouse to the terminal, and captures it again.
func TestMouseIsLeftToTheTerminal(t *testing.T) {
	b := open(t, load(t, "quota"), size{80, 24}, func(o *Options) { o.Mouse = true })
	assert.Equal(t, b.View().MouseMode, tea.MouseModeCellMotion, "no mouse")
	b.press("m")
	shows(b, "mouse off: text can be selected")
	assert.Equal(t, b.View().MouseMode, tea.MouseModeNone, "still a mouse")
	b.press("m")
	shows(b, "mouse on: the wheel scrolls")
	assert.Equal(t, b.View().MouseMode, tea.MouseModeCellMotion, "no mouse again")
}

// ctrl+l redraws, ctrl+z suspends.
func TestTerminalKeysRedrawAndSuspend(t *testing.T) {
	b := open(t, load(t, "quota"), size{80, 24}, nil)
	assert.Equal(t, gives(b.press("ctrl+l")), fmt.Sprintf("%T", tea.ClearScreen()), "ctrl+l gives")
	assert.Equal(t, gives(b.press("ctrl+z")), "tea.SuspendMsg", "ctrl+z gives")
}

// chosenTab returns the name of the tab in reverse video.
func chosenTab(b *testbed) string {
	chosen := regexp.MustCompile(`\x1b\[[0-9;]*7m \d (\w+) `).FindStringSubmatch(b.View().Content)
	if chosen == nil {
		b.t.Fatalf("no tab is chosen:\n%s", b.marked())
	}
	return chosen[1]
}

// 1..6, tab, shift+tab and the arrows change the tab, unless the pane uses the key.
func TestKeysChangeTheTab(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	for _, step := range []struct{ key, want string }{
		{"6", "Timeline"}, {"5", "Pods"}, {"4", "Failures"}, {"3", "Policies"}, {"2", "Indexes"}, {"1", "Overview"}, {"7", "Overview"}, {"9", "Overview"},
		{"shift+tab", "Timeline"}, {"tab", "Overview"}, {"left", "Timeline"}, {"right", "Overview"}, {"h", "Timeline"}, {"tab", "Overview"}, {"tab", "Indexes"},
		{"right", "Indexes"}, {"tab", "Policies"}, {"right", "Failures"}, {"left", "Policies"},
	} {
		b.press(step.key)
		if got := chosenTab(b); got != step.want {
			t.Fatalf("%q leads to %s, want %s", step.key, got, step.want)
		}
		shows(b, " "+step.want+" ")
	}
}

// The terminal may be resized at any time, and be too small for any content.
func TestSizeMayChange(t *testing.T) {
	for _, fixture := range []string{"three-causes", "failure-policy-named", "running-success-policy", "quota", "work-queue"} {
		b := open(t, load(t, fixture), size{160, 50}, nil)
		for _, keys := range [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"?"}, {"?"}, {"/"}, {"x", "enter"}, {"esc", "e"}, {"esc", "5", "enter"}, {"2"}, {"3"}} {
			b.press(keys...)
			for _, at := range []size{{1, 1}, {10, 3}, {20, 4}, {200, 2}, {3, 60}, {60, 20}, {0, 0}, {160, 50}} {
				b.send(windowSize(at.width, at.height))
				checkFrame(t, b, size{max(1, at.width), max(1, at.height)})
				b.press("down", "pgdown", "up")
			}
		}
	}
}

// Unknown keys only show a notice, and messages that change nothing visible do not redraw the view.
// Requirements: VIE-07
func TestUnknownKeysShowOnlyANotice(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	before := b.View().Content
	above := func(picture string) string { return picture[:strings.LastIndex(picture, "\n")] }
	for _, key := range []string{"z", "X", "ctrl+a", "7", "&", "ж", "shift+up"} {
		if cmd := b.press(key); cmd != nil {
			t.Errorf("%q gives %s", key, gives(cmd))
		}
		shows(b, "no key "+key+" here; ? shows the keys")
		assert.Equalf(t, above(b.View().Content), above(before), "%q changes the screen", key)
	}
	b.now = b.now.Add(noticeTime)
	b.send(tickMsg(b.now))
	before = b.View().Content
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelLeft})
	b.send(tea.PasteMsg{Content: "q"})
	assert.Equal(t, b.View().Content, before, "the screen has changed")
}

// The view is drawn once for each message that may change it.
func TestViewIsMadeOnce(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	c := &counting{Screen: b.screens.top()}
	b.screens.open[0] = c
	for range 3 {
		b.View()
		b.send(tea.KeyReleaseMsg{})
	}
	assert.Equal(t, c.drawn, 1, "how often the first frame is drawn")
	c.drawn = 0
	b.send(tickMsg(b.now))
	b.send(tea.KeyReleaseMsg{}) // Nothing visible changes, but the tick must still be drawn.
	b.View()
	b.View()
	assert.Equal(t, c.drawn, 1, "how often it is drawn for a tick")
	assert.DeepEqual(t, b.View(), b.View(), "two frames of one state")
}

// counting counts how often a screen is drawn.
type counting struct {
	screen.Screen
	drawn int
}

func (c *counting) Body(p *widget.Paint, d *screen.Data) []layout.Line {
	c.drawn++
	return c.Screen.Body(p, d)
}

// A message that changes nothing visible does not prevent the first frame.
func TestFirstFrameIsAlwaysDrawn(t *testing.T) {
	s := load(t, "quota")
	m := New(Options{Source: &still{snap: s}, Now: func() time.Time { return s.Time }, What: "namespace default"})
	m.Update(tea.EnvMsg{})
	assert.Contains(t, m.View().Content, "Jobs", "the first frame")
	assert.Equal(t, m.Scrollback(), "", "something is left of nothing")
}

// Issue 6, 5: an answer is edited, accepted with enter, and discarded with esc.
func TestAnswerIsEditedAndTaken(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	bottom := func() string {
		lines := strings.Split(b.picture(), "\n")
		return strings.TrimRight(lines[len(lines)-1], " ")
	}
	b.press("6", "/")
	b.write("failed x")
	assert.Equal(t, bottom(), "/failed x", "the question")
	b.press("backspace", "backspace", "left", "left")
	b.send(tea.PasteMsg{Content: " one\r\n two\t"})
	assert.Equal(t, bottom(), "/failone twoed", "after a paste in the middle it")
	b.press("Z")
	assert.Equal(t, bottom(), "/failone twoZed", "typed behind the paste it")
	b.press("esc")
	hides(b, "/failone", "of 4 moments")
	b.press("/")
	b.write("pods")
	b.press("enter")
	shows(b, "/pods  4 of")
	b.press("/")
	b.write(" q")
	shows(b, "0 of")
	b.press("esc")
	shows(b, "/pods  4 of")
	if len(b.screens.open) != 1 || b.prompt != nil {
		t.Error("keys of a question did something else")
	}
}

// The cursor in a long answer stays visible.
func TestCursorOfALongAnswerIsOnTheScreen(t *testing.T) {
	for _, at := range []size{{20, 10}, {60, 20}} {
		b := open(t, load(t, "three-causes"), at, nil, "6", "/")
		b.write("日本" + strings.Repeat("abcdefghij", 40) + "END")
		b.send(tea.PasteMsg{Content: "\x1b]0;x\x07"})
		checkFrame(t, b, at)
		b.press("esc", "/")
		b.write(strings.Repeat("0123456789", 10) + "END")
		lines := strings.Split(b.picture(), "\n")
		if got := strings.TrimRight(lines[len(lines)-1], " "); !strings.HasPrefix(got, "/…") || !strings.HasSuffix(got, "789END") {
			t.Errorf("the question is %q", got)
		}
		b.press("home")
		lines = strings.Split(b.picture(), "\n")
		if got := lines[len(lines)-1]; !strings.HasPrefix(got, "/0123") {
			t.Errorf("at its begin the question is %q", got)
		}
	}
}

// Issue 6, 5: the wheel scrolls the screen or the help, whichever is in front.
func TestWheelScrollsWhatIsInFront(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{60, 12}, nil)
	down, up := tea.MouseWheelMsg{Button: tea.MouseWheelDown}, tea.MouseWheelMsg{Button: tea.MouseWheelUp}
	for _, keys := range [][]string{{"1"}, {"3"}, {"4"}, {"6", "g"}, {"e"}, {"?"}} {
		b.press(keys...)
		before := b.picture()
		b.send(down)
		if b.picture() == before {
			t.Errorf("after %v the wheel does nothing", keys)
		}
		b.send(up)
		assert.Equalf(t, b.picture(), before, "after %v the wheel does not scroll back", keys)
	}
}

// The colors follow the background; without colors the background has no effect.
func TestColorsFollowTheBackground(t *testing.T) {
	s := load(t, "three-causes")
	dark := open(t, s, size{80, 24}, nil)
	light := open(t, s, size{80, 24}, func(o *Options) { o.Light = true })
	plain := open(t, s, size{80, 24}, func(o *Options) { o.Color = false })
	a, z, none := dark.marked(), light.marked(), plain.marked()
	if a == z || a == none || strings.Contains(none, "38;2;") {
		t.Fatal("the looks are not what they are called")
	}
	white, black := tea.BackgroundColorMsg{Color: rgb(0xffffff)}, tea.BackgroundColorMsg{Color: rgb(0)}
	for _, b := range []*testbed{dark, light} {
		b.send(white)
		assert.Equal(t, b.marked(), z, "not light on white")
		b.send(black)
		assert.Equal(t, b.marked(), a, "not dark on black")
	}
	plain.send(white)
	assert.Equal(t, plain.marked(), none, "colors came")
}

// rgb is an opaque color.
type rgb uint32

func (c rgb) RGBA() (r, g, b, a uint32) {
	return uint32(c>>16&0xff) * 0x101, uint32(c>>8&0xff) * 0x101, uint32(c&0xff) * 0x101, 0xffff
}

// The Source ends before a Snapshot was shown, later, and at the end of a recording.
func TestEndOfTheSourceIsShown(t *testing.T) {
	s := load(t, "three-causes")
	broken := errors.New("unauthorized\x1b[2J: " + strings.Repeat("very ", 40) + "long")

	nothing := open(t, &snapshot.Snapshot{Time: s.Time}, size{80, 24}, nil)
	if got := gives(nothing.send(snapshotMsg{err: broken})); got != quits || !errors.Is(nothing.Err(), broken) || nothing.Scrollback() != "" {
		t.Errorf("before the first Snapshot: %q, error %v, left %q", got, nothing.Err(), nothing.Scrollback())
	}

	for _, at := range sizes {
		b := open(t, s, at, nil)
		if got := gives(b.send(snapshotMsg{err: broken})); got != "" || !errors.Is(b.Err(), broken) {
			t.Errorf("later: %q, error %v", got, b.Err())
		}
		shows(b, `ended: unauthorized\x1b[2J`, "three-causes", "04:21:37", "? help")
		checkFrame(t, b, at)
		b.press("4")
		shows(b, "60 failures, 3 causes")
	}

	replay := func(o *Options) { o.Replay = 4 }
	b := open(t, s, size{80, 24}, replay)
	shows(b, "replay 4x")
	if got := gives(b.send(snapshotMsg{err: io.EOF})); got != "" || b.Err() != nil {
		t.Errorf("at the end of a recording: %q, error %v", got, b.Err())
	}
	shows(b, "end of the recording")
	hides(b, "replay 4x", "ended:")

	b = open(t, s, size{80, 24}, nil)
	b.send(snapshotMsg{err: context.Canceled})
	hides(b, "ended:")
	if b.Err() != nil {
		t.Errorf("error %v", b.Err())
	}
}

// Issue 6, 6: after a lost connection, the view shows since when and why, until it is restored.
func TestLostConnectionIsShown(t *testing.T) {
	s := load(t, "three-causes")
	since := s.Time.Add(-90 * time.Second)
	for _, paused := range []bool{false, true} {
		b := open(t, s, size{80, 24}, nil)
		if paused {
			b.press("space")
		}
		b.news(s, func(s *snapshot.Snapshot) { s.Link = snapshot.Link{StaleSince: &since, Why: "connection refused\r\n"} })
		shows(b, "! stale since "+since.Format("15:04:05"), `Retrying: connection refused\r\n`)
		b.press("r")
		b.press("m")
		shows(b, "! stale since", "mouse on")
		b.news(s, nil)
		hides(b, "stale", "connection")
	}
}

// While the server does not respond, the view shows the state of the last response: clocks stop, there are no estimates, and
// the controller is not shown as alive; only the length of the outage counts up (issue 17.2).
// Requirements: CLI-07
func TestSilentServerStopsTheClocks(t *testing.T) {
	s := load(t, "running-success-policy")
	b := open(t, s, size{100, 24}, nil)
	shows(b, "ETA", "batchjob.dev/controller ✓", "2s so far")
	b.now = s.Time.Add(5 * time.Second)
	b.news(s, func(silent *snapshot.Snapshot) {
		silent.Time, silent.Link = b.now, snapshot.Link{StaleSince: &s.Time, Silent: true, Why: "no answer from the API server"}
	})
	shows(b, "! no answer for 5s", "2s so far", "run by batchjob.dev/controller", "? help")
	hides(b, "ETA", "batchjob.dev/controller ✓", "Retrying")
	b.now = b.now.Add(15 * time.Second)
	b.send(tickMsg(b.now))
	shows(b, "! no answer for 20s", "2s so far")
	golden(t, "silent.100x24", b.picture())
	b.press("esc")
	shows(b, "! no answer for 20s")
	b.news(s, func(back *snapshot.Snapshot) { back.Time = b.now })
	hides(b, "no answer")
}

// The view ends by itself if EndWhen says so, showing the last state, paused or not.
func TestViewEndsWithTheLastState(t *testing.T) {
	for _, keys := range [][]string{nil, {"space"}} {
		s := load(t, "running")
		b := open(t, s, size{80, 24}, func(o *Options) {
			o.EndWhen = func(s *snapshot.Snapshot) bool { return s.Job.Report.Verdict.Outcome == reconcile.OutcomeComplete }
		})
		b.press(keys...)
		if b.quit {
			t.Fatal("ended too soon")
		}
		end := load(t, "completions")
		end.Seq = 2
		if got := gives(b.send(snapshotMsg{snap: end})); got != quits || b.Shown() != end {
			t.Errorf("at its end it gives %q, shown is %d", got, b.Shown().Seq)
		}
	}
}

// A recording opens the recorded screens, and does not close the user's own.
func TestFollow(t *testing.T) {
	s := load(t, "three-causes")
	list, pod, other := *s, *s, *s
	list.Focus, list.Job, list.Seq = snapshot.Focus{}, nil, 2
	pod.Focus.Pod, pod.Seq = "three-causes-6-rc9d4", 3
	other.Focus, other.Seq = snapshot.Focus{Job: types.NamespacedName{Namespace: "a", Name: "b"}, Pod: "p"}, 4
	again := *s
	again.Seq = 5
	b := open(t, &list, size{160, 50}, func(o *Options) { o.Follow, o.Replay = true, 1 })
	for _, step := range []struct {
		snap *snapshot.Snapshot
		path string
	}{
		{s, "Jobs › three-causes/three-causes "}, {&pod, "Jobs › three-causes/three-causes › three-causes-6-rc9d4 "}, {s, "Jobs › three-causes/three-causes "},
		{&other, "Jobs › a/b › p "}, {&list, "Jobs "}, {s, "Jobs › three-causes/three-causes "},
	} {
		b.send(snapshotMsg{snap: step.snap})
		if got, _, _ := strings.Cut(b.picture(), "\n"); !strings.HasPrefix(got, step.path) || strings.Count(got, "›") != strings.Count(step.path, "›") {
			t.Errorf("the path is %q, want %q", got, step.path)
		}
	}
	b.press("e")
	b.send(snapshotMsg{snap: &again})
	shows(b, "› Explain")
	// The view of a recording opens with its only Job.
	b = open(t, s, size{160, 50}, func(o *Options) { o.Follow = true })
	b.send(snapshotMsg{snap: &pod})
	shows(b, "three-causes/three-causes › three-causes-6")
	b.send(snapshotMsg{snap: &list})
	assert.Equal(t, len(b.screens.open), 1, "screens")
}

// Notices vanish after four seconds, or with the next key.
func TestNoticesVanish(t *testing.T) {
	b := open(t, load(t, "quota"), size{80, 24}, nil)
	const output = "mouse on"
	b.press("m")
	for range 3 {
		b.now = b.now.Add(time.Second)
		b.send(tickMsg(b.now))
		shows(b, output)
	}
	b.now = b.now.Add(time.Second)
	if cmd := b.send(tickMsg(b.now)); cmd == nil {
		t.Error("the clock stops")
	}
	hides(b, output)
	b.press("m", "m")
	shows(b, output)
	b.press("z")
	hides(b, output)
}

// The title of the window has the name, the status and the progress, and no control characters.
func TestTitleHasNameAndProgress(t *testing.T) {
	assert.Equal(t, open(t, load(t, "completions"), size{80, 24}, nil).View().WindowTitle, "completions Complete 100%", "title")
	b, _ := jobs(t, "completions")
	assert.Equal(t, b.View().WindowTitle, "kubectl batchjob", "title")
	s := changed(t, "running", func(r *explain.Report) { r.Job.Name, r.Verdict.Status = "a\x1b]0;x\x07\u202e", "\u009b\n" })
	assert.Equal(t, open(t, s, size{80, 24}, nil).View().WindowTitle, `a\x1b]0;x\x07\u202e \u009b\n 33%`, "title")
}

// The terminal's own progress bar shows the state, and vanishes at the end.
func TestTerminalShowsItsProgressBar(t *testing.T) {
	for fixture, want := range map[string]*tea.ProgressBar{
		"running": tea.NewProgressBar(tea.ProgressBarDefault, 33), "failure-policy-named": tea.NewProgressBar(tea.ProgressBarError, 33),
		"failure-target": tea.NewProgressBar(tea.ProgressBarError, 0), "suspended": tea.NewProgressBar(tea.ProgressBarWarning, 0),
		"image-pull": tea.NewProgressBar(tea.ProgressBarWarning, 0), "completions": nil, "work-queue": nil,
	} {
		assert.DeepEqual(t, open(t, load(t, fixture), size{80, 24}, nil).View().ProgressBar, want, fixture)
	}
	b, _ := jobs(t, "running")
	if got := b.View().ProgressBar; got != nil {
		t.Errorf("the list: %+v", got)
	}
	over := changed(t, "running", func(r *explain.Report) { r.Indexes.CompletedCount = 1000 })
	assert.Equal(t, open(t, over, size{80, 24}, nil).View().ProgressBar.Value, 100, "more than all")
}

// The scrollback of a Job is its whole short explanation, whatever was on the screen.
// Requirements: VIE-02
func TestExplanationStaysWhole(t *testing.T) {
	s := load(t, "three-causes")
	want := strings.TrimSpace(ansi.Strip(explanationOf(s.Job.Report, 80)))
	for _, keys := range [][]string{{}, {"4"}, {"e"}, {"?"}, {"5", "/", "x"}, {"5", "enter"}} {
		b := open(t, s, size{80, 24}, nil, keys...)
		for _, end := range []string{"q", "ctrl+c"} {
			b.press(end)
			assert.Equalf(t, strings.TrimSpace(ansi.Strip(b.Scrollback())), want, "after %v and %s", keys, end)
		}
	}
}

// The key e shows what why prints, word for word.
// Requirements: VIE-02
func TestTheViewAnswersInTheWordsOfWhy(t *testing.T) {
	files, err := recorded.Files(filepath.Join("..", "explain", "analysis", "testdata", "recorded"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		s := load(t, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		b := open(t, s, size{160, 100}, nil, "e")
		want := strings.Replace(explanationOf(s.Job.Report, 160), "--full: ", "key a: ", 1)
		assert.Contains(t, withoutSpace(ansi.Strip(b.View().Content)), withoutSpace(want), path)
	}
}

// withoutSpace returns the text without spaces at the ends of lines.
func withoutSpace(text string) string {
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
}

// explanationOf returns the output of why.
func explanationOf(r *explain.Report, width int) string {
	var b strings.Builder
	for _, l := range text.ShortLines(*r, text.Options{Width: width, Location: time.UTC}) {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// The scrollback of the list is the list, without keys, prompts and help.
func TestListStays(t *testing.T) {
	b, _ := jobs(t, "three-causes")
	whole, last := b.View().Content, b.Scrollback()
	if !strings.HasPrefix(whole, last) || strings.Contains(last, "help") || strings.HasSuffix(last, "\n") || !strings.Contains(last, "1 Job") {
		t.Errorf("what stays is\n%s", last)
	}
	for _, keys := range [][]string{{"?"}, {"/", "t"}} {
		b.press(keys...)
		if got := b.Scrollback(); strings.Contains(got, "write") || !strings.Contains(got, "1 Job") {
			t.Errorf("after %v it is\n%s", keys, got)
		}
	}
}

// The scrollback says if the Job was deleted, or if the API server has stopped responding.
// Requirements: VIE-02
func TestScrollbackStartsWithDeletionOrLostConnection(t *testing.T) {
	s := load(t, "three-causes")
	gone := *s
	at := s.Time
	gone.Job = &snapshot.Job{Report: s.Job.Report, Gone: true, GoneAt: &at}
	if got := ansi.Strip(open(t, &gone, size{80, 24}, nil).Scrollback()); !strings.HasPrefix(got, "The Job was deleted at ") {
		t.Errorf("deleted:\n%s", got)
	}
	stale := *s
	stale.Link.StaleSince = &at
	if got := ansi.Strip(open(t, &stale, size{80, 24}, nil).Scrollback()); !strings.HasPrefix(got, "The API server has not answered since ") {
		t.Errorf("stale:\n%s", got)
	}
}

// q quits from the screen that the command opened, and the first line says so; esc goes from the explanation to its Job.
// Requirements: VIE-01
func TestQuitLeavesFromTheScreenThatWasOpened(t *testing.T) {
	explained := func() *testbed {
		return open(t, load(t, "three-causes"), size{80, 24}, func(o *Options) { o.Start = StartExplain })
	}
	b := explained()
	if first, _, _ := strings.Cut(b.picture(), "\n"); !strings.Contains(first, "q quits") {
		t.Errorf("the first line is %q", first)
	}
	shows(b, "esc back", "q quit")
	assert.Equal(t, gives(b.press("q")), quits, "q gives")
	b = explained()
	b.press("?")
	shows(b, "esc         back", "q/ctrl+c    quit")
	b.press("?", "esc")
	shows(b, "1 Overview", "q quits")
	b.press("5", "enter")
	hides(b, "q quits", "q quit")
	assert.Equal(t, gives(b.press("q")), "", "q on a pod gives")
	b.press("e")
	assert.Equal(t, gives(b.press("q")), "", "q on an explanation that was opened later gives")
	assert.Equal(t, gives(b.press("q")), quits, "q on the Job gives")
}

// The first messages request a Snapshot, a tick, and the background if there are colors.
func TestFirstMessagesAskForNews(t *testing.T) {
	for _, color := range []bool{true, false} {
		b := open(t, load(t, "quota"), size{80, 24}, func(o *Options) { o.Color = color })
		batch, ok := b.Init()().(tea.BatchMsg)
		if want := map[bool]int{true: 3, false: 2}[color]; !ok || len(batch) != want {
			t.Errorf("color %v: %d commands, want %d", color, len(batch), want)
		}
	}
	s := load(t, "quota")
	m := New(Options{Source: &still{snap: s}, Now: func() time.Time { return s.Time }})
	if got := m.next()().(snapshotMsg); got.snap != s || got.err != nil {
		t.Errorf("the first news are %v", got)
	}
}

// A Job that is opened while the view is paused is shown in its state at that time.
func TestJobOpenedWhilePausedIsShown(t *testing.T) {
	s := load(t, "running-success-policy")
	listed := *s
	listed.Focus, listed.Job = snapshot.Focus{}, nil
	b := open(t, &listed, size{80, 24}, nil, "space", "enter")
	shows(b, "Reading job")
	b.news(s, func(opened *snapshot.Snapshot) { opened.Job = nil })
	shows(b, "Reading job", "paused")
	b.news(s, nil)
	shows(b, "3/10", "paused")
	later := changed(t, "running-success-policy", func(r *explain.Report) { r.Indexes.CompletedCount = 7 })
	b.news(later, nil)
	shows(b, "3/10", "paused")
}

// Issue 17: all screens of a Job that is deleted while it is watched say so, and when; its clocks stop, and no next step is
// shown.
func TestDeletedJobHasItsTimeOnAllScreens(t *testing.T) {
	s := load(t, "running-success-policy")
	at := s.Time.Add(3 * time.Second)
	s.Job.Gone, s.Job.GoneAt = true, &at
	b := open(t, s, size{100, 30}, nil)
	b.now = b.now.Add(time.Hour)
	b.send(tickMsg(b.now))
	gone := "deleted at " + at.UTC().Format("15:04:05")
	shows(b, "✗ "+gone, "✗ D"+gone[1:]+"  was Running", "The Job was "+gone+". Its last known state:", "is running for ", "ran for 5s")
	hides(b, "ETA", "deadline in", "  Next")
	assert.Equal(t, b.View().WindowTitle, "running-success-policy deleted", "title")
	b.press("e")
	shows(b, "Explain", "✗ "+gone)
}

// A Job that never existed is not shown as deleted.
func TestJobThatNeverWasIsNotDeleted(t *testing.T) {
	s := load(t, "running-success-policy")
	key := s.Focus.Job
	report := &explain.Report{Job: explain.Job{Namespace: key.Namespace, Name: key.Name}, Verdict: explain.Verdict{Sentence: "The Job does not exist."}}
	s.Job = &snapshot.Job{Gone: true, Report: report}
	b := open(t, s, size{100, 30}, nil)
	shows(b, "✗ Does not exist")
	hides(b, "eleted", "Running", "was")
}

// A long path keeps its end, and a lost connection does not hide the keys.
func TestCrowdedLinesKeepTheirKeys(t *testing.T) {
	s := load(t, "running-success-policy")
	since := s.Time.Add(-time.Minute)
	s.Link = snapshot.Link{StaleSince: &since, Why: strings.Repeat("connection refused; ", 10)}
	b := open(t, s, size{60, 20}, nil, "e")
	shows(b, "… › Explain", "stale since", "Retrying: connection refused", "? help")
	checkFrame(t, b, size{60, 20})
}
