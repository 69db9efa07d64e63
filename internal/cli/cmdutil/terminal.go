package cmdutil

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// WidthOf is how many columns the terminal behind w has, 0 when there is none that understands more than lines.
func (e Env) WidthOf(w io.Writer) int {
	if e.Terminal != nil {
		return e.Terminal(w)
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		return width
	}
	return minWidth // what every terminal has
}

// ticks is a clock that beats every d until stop is called.
func (e Env) ticks(d time.Duration) (beats <-chan time.Time, stop func()) {
	if e.Ticker != nil {
		return e.Ticker(d)
	}
	ticker := time.NewTicker(d) //nolint:forbidigo // the shell's own; tests set another
	return ticker.C, ticker.Stop
}

// After calls fire once d has passed, unless stop is called first.
func (e Env) After(d time.Duration, fire func()) (stop func()) {
	if e.Timer != nil {
		return e.Timer(d, fire)
	}
	timer := time.AfterFunc(d, fire)
	return func() { timer.Stop() }
}
