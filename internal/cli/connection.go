package cli

import (
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

func (e environment) timing() feed.Timing {
	return feed.Timing{Now: e.now, Ticks: e.ticks, Retry: e.retry}
}

// newLink returns a link that prints once that the connection is lost and once that it is back.
func (e environment) newLink(out io.Writer) *feed.Link {
	lost := false
	return feed.NewLink(e.timing(), func(s feed.State) {
		if lost == (s.Err != nil) {
			return
		}
		if lost = s.Err != nil; lost {
			fmt.Fprintf(out, "The connection to the API server is lost, trying again: %s\n", inOneLine(s.Err))
			return
		}
		fmt.Fprintln(out, "The connection to the API server is back.")
	})
}

// inOneLine is an error for people, with what to do about it.
func inOneLine(err error) string { return oneLine(explainError(err).Error()) }
