package cmdutil

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// TerminalWidth returns the number of columns of the terminal behind w, or 0 without a terminal that can rewrite a
// line.
func (e Env) TerminalWidth(w io.Writer) int {
	columns, terminal := e.columns(w)
	switch {
	case !terminal || e.Terminal == nil && os.Getenv("TERM") == "dumb":
		return 0
	case columns <= 0:
		return minWidth
	}
	return columns
}

// columns reports whether w is a terminal, and its width, 0 if the terminal does not report it.
func (e Env) columns(w io.Writer) (columns int, terminal bool) {
	if e.Terminal != nil {
		columns = e.Terminal(w)
		return columns, columns > 0
	}
	file, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _, _ = term.GetSize(int(file.Fd())) // It stays 0 after an error.
	return columns, true
}

// ticks returns a channel that receives the time every d until stop is called.
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

// Synchronized returns a writer to w that several goroutines may use.
func Synchronized(w io.Writer) io.Writer { return &lockedWriter{w: w} }

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
