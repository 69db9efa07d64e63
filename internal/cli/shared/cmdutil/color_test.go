package cmdutil

import (
	"bytes"
	"io"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The conventions of ux.md: --color, NO_COLOR, narrow terminals from 60 columns, ASCII fallback.
func TestColorFlagAndEnvironment(t *testing.T) {
	for _, tc := range []struct {
		name, when string
		terminal   bool
		env        map[string]string
		want       bool
	}{
		{"auto on a terminal", colorAuto, true, nil, true},
		{"auto in a pipe", colorAuto, false, nil, false},
		{"NO_COLOR of any value", colorAuto, true, map[string]string{"NO_COLOR": "0"}, false},
		{"an empty NO_COLOR is none", colorAuto, true, map[string]string{"NO_COLOR": ""}, true},
		{"a dumb terminal", colorAuto, true, map[string]string{"TERM": "dumb"}, false},
		{"always wins over NO_COLOR", colorAlways, false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", colorNever, true, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := ColorFlag{when: tc.when}
			assert.Equal(t, c.display(tc.terminal, 100, getenvOf(tc.env)).Color, tc.want, "color")
		})
	}
}

func TestDisplayWidth(t *testing.T) {
	for _, tc := range []struct {
		name     string
		terminal bool
		columns  int
		env      map[string]string
		want     int
	}{
		{"a pipe is not wrapped, whatever the shell says", false, 0, map[string]string{"COLUMNS": "100"}, 0},
		{"the terminal knows best", true, 132, map[string]string{"COLUMNS": "100"}, 132},
		{"the shell is next", true, 0, map[string]string{"COLUMNS": "100"}, 100},
		{"nobody knows", true, 0, nil, 80},
		{"nonsense", true, 0, map[string]string{"COLUMNS": "wide"}, 80},
		{"negative nonsense", true, 0, map[string]string{"COLUMNS": "-5"}, 80},
		{"not below 40", true, 20, nil, 40},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := ColorFlag{when: colorAuto}
			assert.Equal(t, c.display(tc.terminal, tc.columns, getenvOf(tc.env)).Width, tc.want, "width")
		})
	}
}

func TestShowsUnicode(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"UTF-8 by LANG", map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{"utf8 without the dash", map[string]string{"LANG": "C.utf8"}, true},
		{"LC_ALL wins over LANG", map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{"LC_ALL wins over LC_CTYPE", map[string]string{"LC_ALL": "C.UTF-8", "LC_CTYPE": "C"}, true},
		{"LC_CTYPE wins over LANG", map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}, false},
		{"an empty variable is not set", map[string]string{"LC_ALL": "", "LANG": "C.UTF-8"}, true},
		{"the console of Linux lacks glyphs", map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, false},
		{"a dumb terminal", map[string]string{"LANG": "C.UTF-8", "TERM": "dumb"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, showsUnicode(getenvOf(tc.env)), tc.want)
		})
	}
}

func TestDisplayOfABufferIsNoTerminal(t *testing.T) {
	streams := genericiooptions.IOStreams{Out: &bytes.Buffer{}}
	c := ColorFlag{when: colorAuto}
	if d := c.Display(Env{IOStreams: streams}); d.Terminal || d.Color || d.Width != 0 {
		t.Errorf("a buffer is shown as %+v", d)
	}
	fake := Env{IOStreams: streams, Terminal: func(io.Writer) int { return 100 }}
	if d := c.Display(fake); !d.Terminal || d.Width != 100 {
		t.Errorf("a terminal of 100 columns is shown as %+v", d)
	}
}

func getenvOf(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}
