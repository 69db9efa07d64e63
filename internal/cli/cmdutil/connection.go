package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
)

// Timing returns the clock and the retries of everything that follows Jobs.
func (e Env) Timing() feed.Timing {
	return feed.Timing{Now: e.Now, Ticks: e.ticks, Retry: e.Retry}
}

// Connect returns a link that prints once that the connection is lost or silent, and once that it is back. It is probed
// until stop is called.
func (e Env) Connect(ctx context.Context, client kubernetes.Interface, out io.Writer) (link *feed.Link, stop func()) {
	var last feed.State
	link = feed.NewLink(e.Timing(), func(s feed.State) {
		switch {
		case (last.Err == nil) == (s.Err == nil):
			return
		case s.Err == nil:
			fmt.Fprintln(out, backLine(last.Err))
		default:
			fmt.Fprintln(out, e.staleLine(s))
		}
		last = s
	})
	ctx, cancel := context.WithCancel(ctx)
	var probing sync.WaitGroup
	pulse := feed.Pulse{Link: link, Probe: feed.Livez(client)}
	probing.Go(func() { _ = pulse.Run(ctx) }) // Its error is the context's.
	return link, func() {
		cancel()
		probing.Wait()
	}
}

// staleLine reports that the connection is lost or silent.
func (e Env) staleLine(s feed.State) string {
	if errors.Is(s.Err, feed.ErrNoAnswer) {
		return fmt.Sprintf("No answer from the API server for %s, still waiting.", wording.Duration(e.Now().Sub(s.StaleSince)))
	}
	return "Lost connection to the API server, retrying: " + ErrorLine(s.Err)
}

// backLine reports that the connection is back, which failed so.
func backLine(failure error) string {
	if errors.Is(failure, feed.ErrNoAnswer) {
		return "The API server answers again."
	}
	return "Reconnected to the API server."
}

// Watch returns one that reads again and again what may not be watched, and prints so once.
func Watch(link *feed.Link, out io.Writer) feed.Watch {
	return feed.Watch{Connection: link.Open(), Retry: feed.UnwatchedRetry, Refused: PrintUnwatched(out)}
}

// PrintUnwatched returns a function that prints once that something is read again and again because it may not be
// watched.
func PrintUnwatched(out io.Writer) func(*feed.Refusal) {
	printed := false
	return func(r *feed.Refusal) {
		if r == nil || printed {
			return
		}
		printed = true
		fmt.Fprintf(out, "No permission to watch %s %s: they are read every %s instead. Check it with: %s\n",
			r.Call.Resource, r.Call.Where(), r.Retry, r.Call.CanI())
	}
}

// ErrorLine is an error for people, with what to do about it.
func ErrorLine(err error) string { return OneLine(ExplainError(err).Error()) }
