package cmdutil

import (
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// Timing returns the clock and the retries of everything that follows Jobs.
func (e Env) Timing() feed.Timing {
	return feed.Timing{Now: e.Now, Ticks: e.ticks, Retry: e.Retry}
}

// NewLink returns a link that prints once that the connection is lost and once that it is back.
func (e Env) NewLink(out io.Writer) *feed.Link {
	lost := false
	return feed.NewLink(e.Timing(), func(s feed.State) {
		if lost == (s.Err != nil) {
			return
		}
		if lost = s.Err != nil; lost {
			fmt.Fprintf(out, "Lost connection to the API server, retrying: %s\n", ErrorLine(s.Err))
			return
		}
		fmt.Fprintln(out, "Reconnected to the API server.")
	})
}

// ErrorLine is an error for people, with what to do about it.
func ErrorLine(err error) string { return OneLine(ExplainError(err).Error()) }
