package cmdutil

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Timing returns the clock and the retries that all verbs use to follow Jobs.
func (e Env) Timing() feed.Timing {
	return feed.Timing{Now: e.Now, Ticks: e.ticks, Backoff: e.Backoff}
}

// Connect returns a Link that prints one line when the connection is lost or silent, and one when it is restored. The
// connection is probed until stop is called.
func (e Env) Connect(ctx context.Context, client kube.Interface, out io.Writer) (link *feed.Link, stop func()) {
	var last snapshot.Link
	link = feed.NewLink(e.Timing(), func(s feed.State) {
		next := s.Link(ErrorLine)
		if line := LinkLine(last, next, e.Now()); line != "" {
			fmt.Fprintln(out, line)
			last = next
		}
	})
	ctx, cancel := context.WithCancel(ctx)
	var probing sync.WaitGroup
	pulse := feed.Pulse{Link: link, Probe: feed.Livez(client)}
	probing.Go(func() { _ = pulse.Run(ctx) }) // It returns only the context's error.
	return link, func() {
		cancel()
		probing.Wait()
	}
}

// LinkLine returns the line for a connection that failed or is restored since last, "" if neither. An API server that
// answers with errors, for example because credentials have expired, does not count as a lost connection.
func LinkLine(last, next snapshot.Link, now time.Time) string {
	switch was, is := last.StaleSince != nil, next.StaleSince != nil; {
	case was == is:
		return ""
	case was && last.Silent:
		return "The API server answers again."
	case was && last.Answered:
		return "Requests to the API server succeed again."
	case was:
		return "Reconnected to the API server."
	case next.Silent:
		return fmt.Sprintf("No answer from the API server for %s, still waiting.", wording.Duration(now.Sub(*next.StaleSince)))
	case next.Answered:
		return "Requests to the API server fail, retrying: " + sanitize.Line(next.Why)
	}
	return "Lost connection to the API server, retrying: " + sanitize.Line(next.Why)
}

// Watch returns a feed.Watch that polls if watching is forbidden, and prints one notice for all its copies.
func Watch(link *feed.Link, out io.Writer) feed.Watch {
	return feed.Watch{Connection: link.Open(), RetryAfter: feed.UnwatchedRetry, OnRefusal: PrintUnwatched(out)}
}

// PrintUnwatched returns a function that prints one notice, the first time that a resource is polled because watching
// it is forbidden.
func PrintUnwatched(out io.Writer) func(*feed.Refusal) {
	var once sync.Once
	return func(r *feed.Refusal) {
		if r == nil {
			return
		}
		once.Do(func() {
			fmt.Fprintf(out, "No permission to watch %s %s: they are read every %s instead. Check it with: %s\n",
				r.Call.Resource, r.Call.Where(), r.RetryAfter, r.Call.CanI())
		})
	}
}

// ErrorLine returns the error as one line for users, with a hint at what to do about it.
func ErrorLine(err error) string { return OneLine(ExplainError(err).Error()) }
