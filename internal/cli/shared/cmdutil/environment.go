package cmdutil

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serverclock"
)

// Env holds everything that verbs get from the outside world besides their flags.
type Env struct {
	genericiooptions.IOStreams

	Now         func() time.Time
	ServerClock *serverclock.Clock // set by answers of the API server; nil if Now does not depend on them
	Backoff     feed.Backoff       // after the connection is lost

	Terminal func(io.Writer) int                                       // columns, 0 for none; nil asks the system
	Ticker   func(time.Duration) (ticks <-chan time.Time, stop func()) // nil for time's own
	Timer    func(d time.Duration, fire func()) (stop func())          // nil for time's own

	// SetGCPercent and SetMemoryLimit are those of package debug; nil in tests, where a process runs many verbs.
	SetGCPercent   func(percent int) (before int)
	SetMemoryLimit func(bytes int64) (before int64)
}

// NewEnv returns the Env of a process.
func NewEnv(streams genericiooptions.IOStreams) Env {
	clock := serverclock.New(time.Now)
	return Env{
		IOStreams:   streams,
		Now:         clock.Now,
		ServerClock: clock,
		Backoff:     feed.Backoff{First: 500 * time.Millisecond, Max: 10 * time.Second, RefusalGrace: 30 * time.Second, Patience: 3 * time.Second},

		SetGCPercent:   debug.SetGCPercent,
		SetMemoryLimit: debug.SetMemoryLimit,
	}
}

// LimitGarbage limits the garbage that the process keeps, in percent of the live heap.
func (e Env) LimitGarbage(percent int) {
	if e.SetGCPercent != nil {
		e.SetGCPercent(percent)
	}
}

// LimitMemory has the garbage collector work harder before the process uses more bytes, unless GOMEMLIMIT is lower.
func (e Env) LimitMemory(bytes int64) {
	if e.SetMemoryLimit != nil && e.SetMemoryLimit(-1) > bytes {
		e.SetMemoryLimit(bytes)
	}
}

// Editor returns the command that opens a file for editing, chosen as by kubectl.
func Editor() []string {
	for _, name := range []string{"KUBE_EDITOR", "EDITOR"} {
		if command := strings.Fields(os.Getenv(name)); len(command) > 0 {
			return command
		}
	}
	return []string{"vi"}
}

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

// CanAsk reports whether there is a terminal to ask a question on, and to read the answer from.
func (e Env) CanAsk() bool {
	if e.Terminal != nil {
		return e.Terminal(e.ErrOut) > 0
	}
	in, ok := e.In.(interface{ Fd() uintptr })
	_, shown := e.columns(e.ErrOut)
	return shown && ok && term.IsTerminal(int(in.Fd()))
}

// Ask prints a question, and reports whether the answer is y or yes.
func (e Env) Ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(e.ErrOut, question)
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(e.In).ReadString('\n') // The end of the input is a no.
		answers <- line
	}()
	select {
	case answer := <-answers:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), nil
	case <-ctx.Done():
		fmt.Fprintln(e.ErrOut)
		return false, ctx.Err()
	}
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
func (e Env) ticks(d time.Duration) (ticks <-chan time.Time, stop func()) {
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
