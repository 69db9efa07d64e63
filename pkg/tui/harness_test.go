package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// size is the size of a terminal.
type size struct{ width, height int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.width, s.height) }

// sizes are the sizes in which each screen is drawn.
var sizes = []size{{60, 20}, {80, 24}, {160, 50}}

// still is a Source of a single Snapshot; it records the Focus of each Look.
type still struct {
	snap   *snapshot.Snapshot
	looked []snapshot.Focus
}

func (s *still) Look(f snapshot.Focus) { s.looked = append(s.looked, f) }

func (s *still) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	if seen < s.snap.Seq {
		return s.snap, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// testbed is a Model that shows a Snapshot at the Snapshot's time.
type testbed struct {
	*Model
	t      testing.TB
	now    time.Time
	source *still
	// saved is the Snapshot that was written, and savedTo the name of its file.
	saved   *snapshot.Snapshot
	savedTo string
}

// open shows a Snapshot, and presses keys. change sets further options.
func open(t testing.TB, s *snapshot.Snapshot, at size, change func(*Options), keys ...string) *testbed {
	t.Helper()
	b := &testbed{t: t, now: s.Time, source: &still{snap: s}}
	o := Options{
		Source: b.source, Now: func() time.Time { return b.now }, What: "namespace default", Color: true,
		Save:     func(s *snapshot.Snapshot, file string) error { b.saved, b.savedTo = s, file; return nil },
		FileName: func(*snapshot.Snapshot) string { return "batchjob-default-train.json" },
	}
	if s.Focus.Job.Name != "" {
		o.Start, o.Job = StartJob, s.Focus.Job
	}
	if change != nil {
		change(&o)
	}
	b.Model = New(o)
	b.send(tea.WindowSizeMsg{Width: at.width, Height: at.height})
	b.send(tickMsg(b.now))
	b.send(snapshotMsg{snap: s})
	b.press(keys...)
	return b
}

// send passes a message to the Model, and the message that its command returns, unless the command waits.
func (b *testbed) send(msg tea.Msg) tea.Cmd {
	b.t.Helper()
	_, cmd := b.Update(msg)
	return cmd
}

// news sends a copy of a Snapshot, changed, as the next one.
func (b *testbed) news(s *snapshot.Snapshot, change func(*snapshot.Snapshot)) {
	b.t.Helper()
	next := *s
	next.Seq = b.pause.latest(b.data.Snap).Seq + 1
	if change != nil {
		change(&next)
	}
	b.send(snapshotMsg{snap: &next})
}

// later advances the time by d, and sends a Report made at that time.
func (b *testbed) later(d time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(d)
	b.send(tickMsg(b.now))
	s := *b.data.Snap
	r := *s.Job.Report
	r.ObservedAt = metav1.NewTime(r.ObservedAt.Add(d))
	s.Seq, s.Time, s.Job = s.Seq+1, b.now, &snapshot.Job{Report: &r, Gone: s.Job.Gone}
	b.send(snapshotMsg{snap: &s})
}

// press presses keys by their names: "down", "enter", "G", "ctrl+c". It draws after each, as Bubble Tea does, because keys
// may depend on the drawn frame.
func (b *testbed) press(keys ...string) tea.Cmd {
	b.t.Helper()
	var cmd tea.Cmd
	for _, name := range keys {
		cmd = b.send(keyPress(b.t, name))
		b.View()
	}
	return cmd
}

// write types a text.
func (b *testbed) write(text string) {
	for _, r := range text {
		b.press(strings.ReplaceAll(string(r), " ", "space"))
	}
}

// keyPress returns the message for the named key.
func keyPress(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "enter": tea.KeyEnter, "esc": tea.KeyEscape,
		"tab": tea.KeyTab, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "space": tea.KeySpace,
		"backspace": tea.KeyBackspace, "f1": tea.KeyF1,
	}
	k := tea.KeyPressMsg{}
	rest := name
	if after, ok := strings.CutPrefix(rest, "ctrl+"); ok && after != "" {
		k.Mod, rest = tea.ModCtrl, after
	}
	if after, ok := strings.CutPrefix(rest, "shift+"); ok && after != "" {
		k.Mod, rest = k.Mod|tea.ModShift, after
	}
	if code, ok := codes[rest]; ok {
		k.Code = code
		if rest == "space" {
			k.Text = " "
		}
	} else {
		k.Code = []rune(rest)[0]
		if k.Mod == 0 {
			k.Text = rest
		}
	}
	if got := k.String(); got != name && name != "space" {
		t.Fatalf("the key %q is called %q", name, got)
	}
	return k
}

// picture returns the frame without styles.
func (b *testbed) picture() string { return ansi.Strip(b.View().Content) }

// marked returns the frame with escape sequences made visible.
func (b *testbed) marked() string {
	return strings.ReplaceAll(b.View().Content, "\x1b", "␛")
}

// golden compares a picture with testdata/golden/NAME.txt.
func golden(t *testing.T, name, got string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(got, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	goldenfile.Compare(t, filepath.Join("testdata", "golden", name+".txt"), strings.Join(lines, "\n")+"\n")
}

// goldens draws a screen in every size, and in one size for a light background, without colors, and in ASCII. The keys open
// the screen.
func goldens(t *testing.T, name string, s *snapshot.Snapshot, change func(*Options), keys ...string) {
	t.Helper()
	draw := func(at size, looks func(*Options)) *testbed {
		b := open(t, s, at, func(o *Options) {
			if change != nil {
				change(o)
			}
			if looks != nil {
				looks(o)
			}
		}, keys...)
		checkFrame(t, b, at)
		return b
	}
	for _, at := range sizes {
		golden(t, name+"."+at.String(), draw(at, nil).picture())
	}
	medium := size{80, 24}
	golden(t, name+".dark", draw(medium, nil).marked())
	golden(t, name+".light", draw(medium, func(o *Options) { o.Light = true }).marked())
	golden(t, name+".nocolor", draw(medium, func(o *Options) { o.Color = false }).marked())
	ascii := draw(medium, func(o *Options) { o.ASCII = true })
	golden(t, name+".ascii", ascii.picture())
}

// checkFrame fails if a frame does not fill the terminal exactly, or is too wide.
func checkFrame(t *testing.T, b *testbed, at size) {
	t.Helper()
	lines := strings.Split(b.picture(), "\n")
	assert.Equalf(t, len(lines), at.height, "lines on a terminal of %s", at)
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > at.width {
			t.Errorf("line %d has %d columns on a terminal of %s: %q", i, w, at, line)
		}
	}
}

// cases caches the recorded cases.
var cases sync.Map

// recordedCase reads a case once. The caller may change the result, except for the pods.
func recordedCase(t testing.TB, name string) recorded.Case {
	t.Helper()
	known, ok := cases.Load(name)
	if !ok {
		c, err := recorded.Load(filepath.Join("..", "explain", "analysis", "testdata", "recorded", name+".yaml"))
		assert.NoError(t, err)
		known, _ = cases.LoadOrStore(name, c)
	}
	c := known.(recorded.Case)
	c.Inputs = slices.Clone(c.Inputs)
	for i := range c.Inputs {
		c.Inputs[i].Job = c.Inputs[i].Job.DeepCopy()
	}
	return c
}

// load returns a Snapshot of a recorded case, see pkg/explain/analysis/testdata/recorded.
func load(t testing.TB, name string) *snapshot.Snapshot {
	t.Helper()
	c := recordedCase(t, name)
	f := c.Inputs[0]
	r := analysis.Explain(f, explain.Options{MaxPods: -1})
	s := &snapshot.Snapshot{
		Seq: 1, Time: f.Now, Focus: snapshot.Focus{Job: types.NamespacedName{Namespace: r.Job.Namespace, Name: r.Job.Name}},
		Job: &snapshot.Job{Report: &r}, Jobs: &snapshot.Jobs{},
	}
	for _, f := range c.Inputs {
		s.Jobs.Items = append(s.Jobs.Items, analysis.OutlineOf(f.Job, f.RuleNames, f.Now))
	}
	return s
}

// loadPod is like load, with the n-th pod of the Report in focus.
func loadPod(t testing.TB, name string, n int) *snapshot.Snapshot {
	t.Helper()
	s := load(t, name)
	c := recordedCase(t, name)
	s.Focus.Pod = s.Job.Report.Pods[n].Name
	i := slices.IndexFunc(c.Inputs[0].Pods, func(p *input.Pod) bool { return p.Name == s.Focus.Pod })
	var events []input.Event
	for _, e := range c.Inputs[0].Events {
		if e.Pod == s.Focus.Pod {
			events = append(events, e)
		}
	}
	for j := range c.Pods {
		if c.Pods[j].Name == c.Inputs[0].Pods[i].Name {
			detail := explain.PodDetailOf(&c.Pods[j], events)
			s.Pod = &detail
		}
	}
	return s
}

// windowSize returns the message for a new size.
func windowSize(width, height int) tea.WindowSizeMsg {
	return tea.WindowSizeMsg{Width: width, Height: height}
}

// scrolls checks that keys and the wheel scroll the open screen from its first line to its last.
func scrolls(b *testbed, more ...string) {
	b.t.Helper()
	b.press("g")
	first := b.picture()
	shows(b, "▼")
	for _, key := range append([]string{"down", "j", "pgdown", "f", "G", "end"}, more...) {
		b.press("g", key)
		if b.picture() == first {
			b.t.Errorf("%q does not scroll", key)
		}
	}
	for _, key := range []string{"up", "k", "pgup", "b", "g", "home"} {
		b.press("G")
		hides(b, "▼")
		b.press(key)
		shows(b, "▼")
	}
	assert.Equal(b.t, b.picture(), first, "home is not the first line")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if b.picture() == first {
		b.t.Error("the wheel does not scroll")
	}
}
