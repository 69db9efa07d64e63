package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// everyScreen opens each screen and tab, with rows, and with a filter if it supports one.
func everyScreen(t *testing.T) map[string]func() *testbed {
	t.Helper()
	all := map[string]func() *testbed{}
	add := func(name string, s *snapshot.Snapshot, pod bool, keys ...string) {
		all[name] = func() *testbed {
			b := open(t, s, size{160, 50}, nil)
			if pod {
				b.screens.open = append(b.screens.open, pods.NewScreen(s.Focus.Job, s.Focus.Pod, nil))
			}
			b.press(keys...)
			return b
		}
	}
	s := load(t, "three-causes")
	for name, keys := range map[string][]string{
		"overview": {"1"}, "indexes": {"2"}, "policies": {"3"}, "failures": {"4"}, "pods": {"5"}, "pods filtered": {"5", "/", "t", "enter"}, "timeline": {"6"},
		"timeline filtered": {"6", "/", "p", "enter"}, "explain": {"e"},
	} {
		add(name, s, false, keys...)
	}
	pod := loadPod(t, "failure-policy-named", 0)
	for name, keys := range map[string][]string{"pod": {"1"}, "logs": {"2"}, "logs filtered": {"2", "/", "x", "enter"}, "events": {"3"}} {
		add(name, pod, true, keys...)
	}
	for name, keys := range map[string][]string{"failed logs": nil, "failed logs filtered": {"/", "x", "enter"}} {
		all[name] = func() *testbed {
			b := open(t, s, size{160, 50}, nil, "L")
			b.log(failedLog())
			b.press(keys...)
			return b
		}
	}
	for name, keys := range map[string][]string{"yaml": nil, "yaml searched": {"/", "e", "enter"}} {
		all[name] = func() *testbed {
			b := open(t, s, size{160, 50}, nil)
			b.showYAML()
			b.press(keys...)
			return b
		}
	}
	all["cronjob"] = func() *testbed { return open(t, nightly(), size{160, 50}, startsWithNightly) }
	list := *s
	list.Focus, list.Job = snapshot.Focus{}, nil
	add("jobs", &list, false)
	add("jobs filtered", &list, false, "/", "t", "enter")
	for name, keys := range map[string][]string{"retry": {"R"}, "retry confirmed": {"R", "enter"}} {
		all[name] = func() *testbed {
			b := open(t, sweep(t), size{160, 50}, nil)
			b.retries(sweepRetrier())
			b.keys(keys...)
			return b
		}
	}
	return all
}

// globals are the keys that work on all screens, in the order in which they are checked.
func globals() []widget.Binding {
	return []widget.Binding{keyHelp, keyBack, keyQuit, keyPause, keyTimes, keySave, keyMouse, keyRedraw, keySuspend}
}

// Issue 6, 5: the help lists every key of its screen, and the global keys.
func TestHelpIsComplete(t *testing.T) {
	for name, opened := range everyScreen(t) {
		b := opened()
		var want []string
		for _, g := range b.screens.top().Keys() {
			for _, k := range g.Bindings {
				if k.Enabled() {
					want = append(want, k.Help().Desc)
				}
			}
		}
		leave := func(k widget.Binding) bool { return k.Help() == keyBack.Help() || k.Help() == keyQuit.Help() }
		everywhere := append(slices.DeleteFunc(globals(), leave), b.screens.leaveKeys()...)
		for _, k := range append(everywhere, widget.KeyUp, widget.KeyDown, widget.KeyPageUp, widget.KeyPageDown, widget.KeyTop, widget.KeyBottom) {
			want = append(want, k.Help().Desc)
		}
		b.press("?")
		for _, desc := range want {
			assert.Contains(t, b.picture(), desc, name)
		}
	}
}

// sharedKeys are keys with two meanings on purpose, with the meanings in order of precedence.
func sharedKeys() map[string]string {
	return map[string]string{
		// A filter is cleared first; the next esc goes back.
		"esc": "clear the filter, back",
	}
}

// No key has two meanings on one screen.
func TestKeysDoNotClash(t *testing.T) {
	for name, opened := range everyScreen(t) {
		b := opened()
		claimed := map[string]string{}
		claim := func(k widget.Binding) {
			for _, key := range k.Keys() {
				before, twice := claimed[key]
				if twice && sharedKeys()[key] != before+", "+k.Help().Desc {
					t.Errorf("%s: %q is %q and %q", name, key, before, k.Help().Desc)
				}
				if !twice {
					claimed[key] = k.Help().Desc
				}
			}
		}
		for _, g := range b.screens.top().Keys() {
			for _, k := range g.Bindings {
				claim(k)
			}
		}
		for _, k := range append(globals(), keyRetry, keyHold, keyDelete, keyFailedLogs, keyYAML) {
			claim(k)
		}
	}
}

// A screen handles each key that it lists, so that no key is left over from an older version.
func TestListedKeysAreKnown(t *testing.T) {
	for name, opened := range everyScreen(t) {
		for _, g := range opened().screens.top().Keys() {
			for _, k := range g.Bindings {
				if !slices.ContainsFunc(k.Keys(), func(key string) bool { return known(t, opened(), key) }) {
					t.Errorf("%s: no key of %q does anything", name, k.Help().Desc)
				}
			}
		}
	}
}

// known reports whether the top screen handles a key.
func known(t *testing.T, b *testbed, key string) bool {
	t.Helper()
	_, is := b.screens.top().Key(keyPress(t, key), &b.data)
	return is
}

// ? and F1 open the help. At every size the same keys close it, scroll keys scroll it, and other keys do nothing, not even on
// the screen behind.
func TestHelpOpensAndCloses(t *testing.T) {
	s := load(t, "three-causes")
	for _, at := range []size{{60, 12}, {80, 24}, {160, 50}, {200, 60}} {
		for _, opens := range []string{"?", "f1"} {
			b := open(t, s, at, nil)
			before := b.picture()
			for _, closes := range []string{"?", "f1", "esc", "q", "backspace"} {
				b.press(opens)
				shows(b, "esc/q close")
				hides(b, "1 Overview")
				for _, key := range []string{"enter", "4", "e", "space", "r", "w", "m", "x", "tab", "j", "f", "down", "G", "up", "b", "g"} {
					assert.Equalf(t, gives(b.press(key)), "", "%s: %q gives", at, key)
					shows(b, "esc/q close")
				}
				assert.Equalf(t, gives(b.press(closes)), "", "%s: %q gives", at, closes)
				assert.Equalf(t, b.picture(), before, "%s: %q leaves", at, closes)
			}
		}
	}
}

// The keys that leave the program differ on the first screen, also in the help.
func TestHelpNamesTheWayOut(t *testing.T) {
	b, _ := jobs(t, "three-causes")
	b.press("?")
	shows(b, "q/ctrl+c", "quit")
	hides(b, "esc/q       back")
	b.press("esc", "enter", "?", "G")
	shows(b, "esc/q       back", "ctrl+c      quit")
}

// The help scrolls by all scroll keys and by the wheel, and shows that it does.
func TestHelpScrolls(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{60, 12}, nil, "?")
	shows(b, "▼", "↑/↓ scroll  esc/q close")
	scrolls(b)
	b.press("G")
	shows(b, "suspend")
}

// The help of the screen with the most keys, in every size and look.
func TestHelpFitsEverySize(t *testing.T) {
	goldens(t, "help.indexes", load(t, "three-causes"), nil, "2", "?")
	goldens(t, "help.timeline", load(t, "three-causes"), nil, "6", "?")
}

// In ASCII mode, the names of keys are ASCII.
func TestHelpNamesKeysInASCII(t *testing.T) {
	for _, keys := range [][]string{{"1"}, {"2"}, {"?"}, {"2", "?"}} {
		b := open(t, load(t, "three-causes"), size{80, 24}, func(o *Options) { o.ASCII = true }, keys...)
		if i := strings.IndexFunc(b.picture(), func(r rune) bool { return r > 0x7e }); i >= 0 {
			t.Errorf("after %v there is %q:\n%s", keys, b.picture()[i:i+3], b.picture())
		}
	}
}

// helped is a screen with the given keys.
type helped struct {
	screen.Screen
	bindings []widget.Binding
}

func (h helped) Keys() []widget.KeyGroup {
	return []widget.KeyGroup{{Title: "Screen", Bindings: h.bindings}}
}

// Issue 6.5: a key that a screen redefines is not listed as a scroll key.
func TestHelpKnowsKeysThatScreensRedefine(t *testing.T) {
	off := widget.Bind("g", "off", "g", "home")
	off.SetEnabled(false)
	for _, c := range []struct {
		name string
		own  []widget.Binding
		want string
	}{
		{"none", nil, "↑/k up, ↓/j down, pgup/b page up, pgdn/f page down, g first, G last"},
		{"follow", []widget.Binding{widget.Bind("f", "follow on/off", "f")}, "↑/k up, ↓/j down, pgup/b page up, pgdn page down, g first, G last"},
		{"cursor", []widget.Binding{widget.Bind("arrows/hjkl", "move the cursor", "up", "down", "left", "right", "h", "j", "k", "l")}, "pgup/b page up, pgdn/f page down, g first, G last"},
		{"arrows", []widget.Binding{widget.Bind("[/↓", "older", "[", "down", "j"), widget.Bind("]/↑", "newer", "]", "up", "k")}, "pgup/b page up, pgdn/f page down, g first, G last"},
		{"one arrow", []widget.Binding{widget.Bind("↓", "older", "down")}, "↑/k up, j down, pgup/b page up, pgdn/f page down, g first, G last"},
		{"other name", []widget.Binding{widget.Bind("g", "go", "g")}, "↑/k up, ↓/j down, pgup/b page up, pgdn/f page down, home first, G last"},
		{"page", []widget.Binding{widget.Bind("pgdn", "next", "pgdown")}, "↑/k up, ↓/j down, pgup/b page up, f page down, g first, G last"},
		{"not enabled", []widget.Binding{off}, "↑/k up, ↓/j down, pgup/b page up, pgdn/f page down, g first, G last"},
	} {
		var got []string
		for _, g := range newHelpScreen(helped{bindings: c.own}, keyBack, keyQuit).groups {
			for _, b := range g.Bindings {
				if g.Title == "Move" && b.Enabled() {
					got = append(got, b.Help().Key+" "+b.Help().Desc)
				}
			}
		}
		assert.Equal(t, strings.Join(got, ", "), c.want, c.name)
	}
	all := []widget.Binding{widget.KeyUp, widget.KeyDown, widget.KeyPageUp, widget.KeyPageDown, widget.KeyTop, widget.KeyBottom}
	h := newHelpScreen(helped{bindings: all}, keyBack, keyQuit)
	for _, l := range h.body(&widget.Paint{Frame: section.Frame{Width: 80, Glyphs: layout.NewGlyphs(false)}, Height: 50}) {
		if l.String() == "Move" {
			t.Error("a heading without keys")
		}
	}
}

// Issue 6.5: no screen lists a key twice in its help.
func TestHelpListsKeysOnce(t *testing.T) {
	for name, opened := range everyScreen(t) {
		b, seen := opened(), map[string]string{}
		for _, g := range newHelpScreen(b.screens.top(), keyBack, keyQuit).groups {
			for _, k := range g.Bindings {
				for _, key := range k.Keys() {
					before, twice := seen[key]
					if seen[key] = k.Help().Desc; twice && k.Enabled() && sharedKeys()[key] == "" {
						t.Errorf("%s: %q is %q and %q", name, key, before, k.Help().Desc)
					}
				}
			}
		}
	}
}
