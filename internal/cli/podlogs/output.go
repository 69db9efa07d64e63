package podlogs

import (
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
)

// DefaultRequests is how many logs are read at a time by default.
const DefaultRequests = 10

// Output prints lines to stdout, and to stderr what is not read.
type Output struct {
	*printer
	errOut io.Writer
	// Missing takes the first look at the pods, for notes on what they lack; nil for none.
	Missing func(logs.Found)

	// IsSimulated reports whether a node runs no containers, so that its pods have no logs; nil for never.
	IsSimulated func(node string) bool

	begun   bool
	sources int // found at first
	unread  unread
}

// NewOutput returns one for any number of logs. errOut is written to by several goroutines.
func NewOutput(out, errOut io.Writer, style Style) *Output {
	return &Output{printer: newPrinter(out, style), errOut: errOut}
}

// Found makes room for prefixes, and prints what does not begin yet.
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

// unstarted prints to stderr a line for each reason, with the first container that has it.
func (p *Output) unstarted(all []logs.Unstarted) {
	groups := map[string][]logs.Unstarted{}
	var reasons []string
	for _, u := range all {
		// Messages name the pod or the image; containers with the same reason are one group.
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
