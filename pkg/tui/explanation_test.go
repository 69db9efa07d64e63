package tui

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// marks returns the line in reverse video: the chosen command.
func marks(b *testbed) string {
	for line := range strings.SplitSeq(b.marked(), "\n") {
		if strings.Contains(line, "␛[7") || strings.Contains(line, ";7m") || strings.Contains(line, ";7;") {
			return line
		}
	}
	return ""
}

// tab selects the next command and scrolls to it; y copies the chosen command.
func TestTabChoosesACommand(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 10}, nil, "e")
	assert.Equal(t, copied(t, b.press("y")), "kubectl logs three-causes-6-rc9d4 -n three-causes", "copied")
	shows(b, "copied: kubectl logs three-causes-6-rc9d4 -n three-causes")
	const second = "kubectl logs three-causes-4-n4wwq -n three-causes"
	for _, keys := range [][]string{{"tab"}, {"shift+tab"}, {"G", "N"}, {"G", "n"}, {"g", "tab"}} {
		b.press(keys...)
		assert.Contains(t, marks(b), "$", "the marked line after", keys)
	}
	assert.Equal(t, copied(t, b.press("y")), second, "copied")
	b.press("n")
	if got := copied(t, b.press("y")); got == second {
		t.Error("n stays")
	}
}

// copied returns the text that a command puts into the clipboard.
func copied(t *testing.T, cmd tea.Cmd) string {
	t.Helper()
	if cmd == nil {
		t.Fatal("nothing is copied")
	}
	got := fmt.Sprint(cmd())
	if want := fmt.Sprint(tea.SetClipboard(got)()); want != got {
		if text, err := base64.StdEncoding.DecodeString(got); err == nil {
			return string(text)
		}
	}
	return got
}

// Without a command there is nothing to copy; all scroll keys work.
func TestExplanationScrollsByEveryKey(t *testing.T) {
	b := open(t, load(t, "completions"), size{80, 24}, nil, "e", "tab", "shift+tab", "y")
	shows(b, "there is no command to copy")

	b = open(t, load(t, "three-causes"), size{80, 16}, nil, "e")
	scrolls(b, "ctrl+f", "ctrl+d")
	for _, key := range []string{"ctrl+b", "ctrl+u"} {
		b.press("G", key)
		shows(b, "▼")
	}
	b.press("esc")
	shows(b, "1 Overview")
}

// The explanation begins with the lines that why prints, with the causes and the next step on the first page; the key a shows
// all details.
// Requirements: CLI-75
func TestExplanationBeginsWithTheShortAnswer(t *testing.T) {
	s := load(t, "three-causes")
	for _, keys := range [][]string{{"e"}, {"e", "a", "a"}} {
		b := open(t, s, size{80, 24}, nil, keys...)
		page := b.picture()
		for line := range strings.Lines(explanationOf(s.Job.Report, 80)) {
			line = strings.TrimRight(line, "\n")
			if !strings.Contains(page, line) && !strings.HasPrefix(line, "More") {
				t.Errorf("%q is not on the first page:\n%s", line, page)
			}
		}
		b.press("a")
		shows(b, "What to do")
	}
}

// Until there is a Report, the screen says what it is waiting for, and for how long.
func TestScreenNamesPendingReads(t *testing.T) {
	s := load(t, "quota")
	s.Job = nil
	b := open(t, s, size{80, 24}, func(o *Options) { o.Start = StartExplain })
	shows(b, "quota/quota › Explain", "Reading job quota/quota…")
	b.now = b.now.Add(5e9)
	b.send(tickMsg(b.now))
	shows(b, "Reading job quota/quota… (5s)")
	b.press("down", "tab", "y", "a", "G")
}

// Requirements: CLI-42. Commands leave out the namespace that kubectl uses anyway.
func TestCommandsOfTheViewLeaveOutTheCurrentNamespace(t *testing.T) {
	s := load(t, "three-causes")
	namespace := s.Job.Report.Job.Namespace
	for current, named := range map[string]bool{"": true, "another": true, namespace: false} {
		for _, start := range []Start{StartExplain, StartJob} {
			b := open(t, s, size{160, 60}, func(o *Options) { o.Start, o.Namespace = start, current })
			screen := b.picture()
			if !strings.Contains(screen, "$ kubectl ") || strings.Contains(screen, " -n "+namespace) != named {
				t.Errorf("%v with the current namespace %q:\n%s", start, current, screen)
			}
		}
	}
}
