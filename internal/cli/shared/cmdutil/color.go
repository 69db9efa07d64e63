package cmdutil

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
)

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"

	// defaultWidth is the width of a terminal that does not report its own, and minWidth the least width that layouts
	// can use.
	defaultWidth = 80
	minWidth     = 40
)

// ColorFlag is --color. The flag wins over NO_COLOR, as in other tools: only auto considers NO_COLOR and the
// terminal.
type ColorFlag struct {
	when string
}

// AddTo adds the flag to a command.
func (c *ColorFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.when, "color", colorAuto, "Use color: auto, always or never.\nauto is on a terminal, unless NO_COLOR is set.")
	MustCompleteFlag(cmd, "color", CompleteWords(colorWords()...))
}

func colorWords() []string { return []string{colorAuto, colorAlways, colorNever} }

// Validate returns a usage error for any other word.
func (c *ColorFlag) Validate() error { return OneOf("color", c.when, colorWords()) }

// Display describes the capabilities of the output.
type Display struct {
	Terminal bool
	// Width is in columns, 0 for output that is not wrapped.
	Width int
	Color bool
	ASCII bool
}

// TableWidth returns the maximum width of a table: wider than any table if output is not wrapped.
func (d Display) TableWidth() int { return cmp.Or(d.Width, 1<<20) }

// Display returns the capabilities of stdout, which depend on the terminal and on environment variables.
func (c *ColorFlag) Display(env Env) Display {
	columns, terminal := env.columns(env.Out)
	return c.display(terminal, columns, os.Getenv)
}

// TextOptions returns the options for an explanation on stdout.
func (c *ColorFlag) TextOptions(env Env, full bool) text.Options {
	d := c.Display(env)
	return text.Options{Width: d.Width, Color: d.Color, ASCII: d.ASCII, Full: full, Location: env.Now().Location()}
}

// display is Display without system calls; columns is 0 if the terminal does not report its size.
func (c *ColorFlag) display(terminal bool, columns int, getenv func(string) string) Display {
	d := Display{Terminal: terminal, ASCII: !showsUnicode(getenv)}
	switch c.when {
	case colorAlways:
		d.Color = true
	case colorAuto:
		d.Color = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	if terminal {
		if columns <= 0 {
			columns, _ = strconv.Atoi(getenv("COLUMNS")) // of the shell
		}
		if columns <= 0 {
			columns = defaultWidth
		}
		d.Width = max(columns, minWidth)
	}
	return d
}

// showsUnicode reports whether the locale uses UTF-8 and the terminal has the glyphs. As in POSIX, the first variable
// that is set counts. Windows sets none, and its terminals show the glyphs.
func showsUnicode(getenv func(string) string) bool {
	switch getenv("TERM") {
	case "dumb", "linux":
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}
