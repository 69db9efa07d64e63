//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// progress is a line about work in progress: the part done, and at the end the time it took. On a terminal, the line is
// redrawn each second.
type progress struct {
	out      io.Writer
	line     string
	started  time.Time
	permille atomic.Int64 // done so far; 0 if that is unknown
	shown    int64        // the part that has been printed without a terminal
	quit     chan struct{}
	ended    chan struct{}
}

func startProgress(out io.Writer, line string) *progress {
	p := &progress{out: out, line: line, started: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	fmt.Fprint(out, line+" ")
	go p.count()
	return p
}

// at sets the part of the work that is done.
func (p *progress) at(done, all int64) {
	if all > 0 {
		p.permille.Store(min(1000*done/all, 1000))
	}
}

func (p *progress) count() {
	defer close(p.ended)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
			p.show()
		}
	}
}

func (p *progress) show() {
	done := p.permille.Load()
	if isTerminal(p.out) {
		fmt.Fprintf(p.out, "\r\033[K%s %s", p.line, state(done, time.Since(p.started)))
		return
	}
	for ; p.shown+100 <= done; p.shown += 100 {
		fmt.Fprintf(p.out, "%d%% ", (p.shown+100)/10)
	}
}

// state describes work in progress: the part done, the elapsed time, and an estimate of the remaining time.
func state(permille int64, elapsed time.Duration) string {
	text := elapsed.Round(time.Second).String()
	if permille < 50 {
		return text // too early to estimate
	}
	left := time.Duration(float64(elapsed) * float64(1000-permille) / float64(permille))
	return fmt.Sprintf("%d%%, %s, about %s left", permille/10, text, left.Round(5*time.Second))
}

// stop completes the line.
func (p *progress) stop(err error) {
	close(p.quit)
	<-p.ended
	what := time.Since(p.started).Round(time.Second).String()
	if err != nil {
		what = "failed after " + what
	}
	if isTerminal(p.out) {
		fmt.Fprintf(p.out, "\r\033[K%s ", p.line) // over the previous text
	}
	fmt.Fprintln(p.out, what)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
