//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress is a line that ends with how long the work took. On a terminal it counts
// the seconds.
type progress struct {
	out     io.Writer
	line    string
	started time.Time
	quit    chan struct{}
	ended   chan struct{}
}

func startProgress(out io.Writer, line string) *progress {
	p := &progress{out: out, line: line, started: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	fmt.Fprint(out, line+" ")
	go p.count()
	return p
}

func (p *progress) count() {
	defer close(p.ended)
	var tick <-chan time.Time
	if isTerminal(p.out) {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-p.quit:
			return
		case <-tick:
			fmt.Fprintf(p.out, "\r%s %s", p.line, p.elapsed())
		}
	}
}

// stop completes the line, with what instead of the time unless it is empty.
func (p *progress) stop(what string, err error) {
	close(p.quit)
	<-p.ended
	switch {
	case err != nil:
		what = "failed after " + p.elapsed()
	case what == "":
		what = p.elapsed()
	}
	if isTerminal(p.out) {
		fmt.Fprintf(p.out, "\r\033[K%s ", p.line) // over the seconds that ran
	}
	fmt.Fprintln(p.out, what)
}

func (p *progress) elapsed() string {
	return fmt.Sprintf("%.0fs", time.Since(p.started).Seconds())
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
