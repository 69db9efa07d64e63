package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// widthOf is how many columns the terminal behind w has, 0 when there is none that understands more than lines.
func (e environment) widthOf(w io.Writer) int {
	if e.terminal != nil {
		return e.terminal(w)
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
func (e environment) ticks(d time.Duration) (beats <-chan time.Time, stop func()) {
	if e.ticker != nil {
		return e.ticker(d)
	}
	ticker := time.NewTicker(d) //nolint:forbidigo // the shell's own; tests set another
	return ticker.C, ticker.Stop
}

// after calls fire once d has passed, unless stop is called first.
func (e environment) after(d time.Duration, fire func()) (stop func()) {
	if e.timer != nil {
		return e.timer(d, fire)
	}
	timer := time.AfterFunc(d, fire)
	return func() { timer.Stop() }
}
