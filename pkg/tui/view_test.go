package tui

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// bottom returns the last line.
func bottom(b *testbed) string {
	lines := strings.Split(b.picture(), "\n")
	return strings.TrimRight(lines[len(lines)-1], " ")
}

// The last line has the keys of the screen first, then the global keys, as far as there is room; help and the way back are
// always shown.
func TestHelpIsAlwaysInTheLastLine(t *testing.T) {
	s := load(t, "quota")
	for _, tc := range []struct {
		width int
		want  string
	}{
		{160, "e explain  1-6 tab  l logs  space pause  L logs of failed pods  r times  w write  ? help  q quit"}, {60, "e explain  1-6 tab  l logs  space pause  ? help  q quit"},
		{40, "e explain  1-6 tab  ? help  q quit"}, {20, "? help  q quit"},
	} {
		b := open(t, s, size{tc.width, 20}, nil, "1")
		assert.Equalf(t, bottom(b), tc.want, "%d columns", tc.width)
	}
	b := open(t, s, size{80, 24}, nil, "space", "e")
	assert.Equal(t, bottom(b), "y copy the command  tab/n next command  a all details  ? help  esc/q back")
}

// Keys that are only for the help are not in the last line.
func TestKeysOfTheHelpAreNotInTheLastLine(t *testing.T) {
	b := open(t, load(t, "quota"), size{160, 50}, nil)
	hides(b, "next tab", "previous tab")
	b.press("?")
	shows(b, "next tab", "previous tab")
	b.press("?", "e")
	hides(b, "previous command")
}

// The path is cut before the time and the marks, and its end last.
func TestPathIsCutFirst(t *testing.T) {
	b := open(t, load(t, "failure-policy-named"), size{60, 20}, func(o *Options) { o.Replay = 0.5 }, "e", "space")
	first, _, _ := strings.Cut(b.picture(), "\n")
	if !strings.HasPrefix(first, "failure-policy-na… › Explain") || !strings.HasSuffix(first, " ‖ paused  replay 0.5x  04:21:38") {
		t.Errorf("the path is %q", first)
	}
}
