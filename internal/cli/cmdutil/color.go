package cmdutil

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
)

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"

	// defaultWidth is that of a terminal that does not tell, and minWidth what layouts can
	// still use.
	defaultWidth = 80
	minWidth     = 60
)

// ColorFlag is --color. The word wins over NO_COLOR, as with other tools: it is the nearer
// wish. Only auto looks at NO_COLOR and at the terminal.
type ColorFlag struct {
	when string
}

func (c *ColorFlag) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&c.when, "color", colorAuto, "When to use colours: auto (on a terminal, unless NO_COLOR is set), always, never.")
}

func colorWords() []string { return []string{colorAuto, colorAlways, colorNever} }

// Complete offers the words to the shell.
func (c *ColorFlag) Complete(cmd *cobra.Command) {
	MustCompleteFlag(cmd, "color", cobra.FixedCompletions(colorWords(), cobra.ShellCompDirectiveNoFileComp))
}

// Validate returns a usage error for any other word.
func (c *ColorFlag) Validate() error {
	switch c.when {
	case colorAuto, colorAlways, colorNever:
		return nil
	}
	return UsageErrorf("unknown --color %q; allowed are: %s", c.when, strings.Join(colorWords(), ", "))
}

// Display is what the output can show.
type Display struct {
	Terminal bool
	// Width is in columns, 0 for output that is not wrapped.
	Width int
	Color bool
	ASCII bool
}

// DisplayOf asks out, if it is a terminal, and the environment variables.
func (c *ColorFlag) DisplayOf(env Env, out io.Writer) Display {
	if env.Terminal != nil {
		columns := env.Terminal(out)
		return c.display(columns > 0, columns, os.Getenv)
	}
	columns, terminal := 0, false
	if file, ok := out.(interface{ Fd() uintptr }); ok {
		fd := int(file.Fd())
		if terminal = term.IsTerminal(fd); terminal {
			columns, _, _ = term.GetSize(fd)
		}
	}
	return c.display(terminal, columns, os.Getenv)
}

// display decides; columns are what a terminal says of itself, 0 if it does not.
func (c *ColorFlag) display(terminal bool, columns int, getenv func(string) string) Display {
	d := Display{Terminal: terminal, ASCII: !showsUnicode(getenv)}
	switch c.when {
	case colorAlways:
		d.Color = true
	case colorAuto:
		d.Color = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	if terminal {
		d.Width = terminalWidth(columns, getenv)
	}
	return d
}

// terminalWidth prefers what the terminal says to what the shell remembers.
func terminalWidth(columns int, getenv func(string) string) int {
	if columns <= 0 {
		columns, _ = strconv.Atoi(getenv("COLUMNS"))
	}
	if columns <= 0 {
		columns = defaultWidth
	}
	return max(columns, minWidth)
}

// showsUnicode says that the locale is one of UTF-8, and that the terminal has the glyphs.
// The first variable that is set counts, as in POSIX. Windows sets none, and its terminals
// show them.
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

// TextOptions are those of pkg/explain/text for a display.
func (d Display) TextOptions(env Env, full bool) text.Options {
	return text.Options{Width: d.Width, Color: d.Color, ASCII: d.ASCII, Full: full, Location: env.Now().Location()}
}
