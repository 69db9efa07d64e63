// Package logprinter prints the logs of the pods of Jobs, for the verbs that follow them.
package logprinter

import (
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// DefaultRequests is the default number of logs read concurrently.
const DefaultRequests = 10

// Output prints log lines to stdout, and notices about unread logs to stderr.
type Output struct {
	*printer
	errOut io.Writer
	// Missing is called with the first pods found, to print notices about what they lack; nil for none.
	Missing func(logs.Found)

	// IsSimulated reports whether a node runs no containers, so that its pods have no logs; nil for never.
	IsSimulated func(node string) bool

	begun   bool
	sources int // number found at first
	unread  unread
}

// NewOutput returns an Output for any number of logs. Several goroutines write to errOut.
func NewOutput(out, errOut io.Writer, style Style) *Output {
	return &Output{printer: newPrinter(out, style), errOut: errOut}
}

// Found reserves columns for prefixes, and prints which logs are not read yet.
func (p *Output) Found(found logs.Found) error {
	p.unstarted(found.Unstarted)
	if !p.begun {
		if p.Missing != nil {
			p.Missing(found)
		}
		p.begun, p.sources = true, len(found.Sources)
	}
	if found.Waiting > 0 {
		fmt.Fprintf(p.errOut, "Following %d logs at a time (--max-log-requests); %s more waiting for one to end.\n", p.Concurrency, wording.Thousands(found.Waiting))
	}
	p.arrange(found.Sources)
	return nil
}

// unstarted prints to stderr one line for each reason, with the first container that it applies to.
func (p *Output) unstarted(all []logs.Unstarted) {
	groups := map[string][]logs.Unstarted{}
	var reasons []string
	for _, u := range all {
		// Messages name the pod or the image, so containers are grouped by reason.
		reason := whyUnstarted(u).Reason
		if groups[reason] == nil {
			reasons = append(reasons, reason)
		}
		groups[reason] = append(groups[reason], u)
	}
	for _, reason := range reasons {
		first, others := groups[reason][0], ""
		if more := len(groups[reason]) - 1; more > 0 {
			others = fmt.Sprintf(" (and %d more: %s)", more, cmdutil.OneLine(reason))
		}
		why := cmdutil.OneLine(whyUnstarted(first).String())
		fmt.Fprintf(p.errOut, "No log from %s, which has not started: %s%s\n", cmdutil.OneLine(first.Source.String()), why, others)
	}
}

func whyUnstarted(u logs.Unstarted) logs.Reason {
	switch {
	case u.Why != logs.Reason{}:
		return u.Why
	case u.Source.Pod.IsTerminal():
		return logs.Reason{Reason: "its pod ended first"}
	}
	return logs.Reason{Reason: "its pod is " + jobprinter.OrNone(string(u.Source.Pod.Phase))}
}
