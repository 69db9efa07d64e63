package logs

import (
	"fmt"
	"sync/atomic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
)

// noteLines is how many notes of one kind are printed.
const noteLines = 10

// logsOutput prints lines to stdout, and to stderr what is not read.
type logsOutput struct {
	*logPrinter

	begun   bool
	sources int // found at first
	unread  atomic.Int32
}

func newLogsOutput(o *Options) *logsOutput {
	return &logsOutput{logPrinter: newLogPrinter(o)}
}

func (p *logsOutput) Found(found logs.Found) error {
	if err := p.o.unknownContainers(); err != nil && !p.begun && !p.o.follow && len(found.Sources) == 0 {
		return err
	}
	p.unstarted(found.Unstarted)
	if !p.begun {
		p.missing(found)
		p.begun, p.sources = true, len(found.Sources)
	}
	if found.Waiting > 0 {
		fmt.Fprintf(p.o.ErrOut, "Following %d logs at a time (--max-log-requests); %s more waiting for one to end.\n", p.o.options.Concurrency, wording.Thousands(found.Waiting))
	}
	p.arrange(found.Sources)
	return nil
}

func (p *logsOutput) Unreadable(failure *logs.UnreadableError) {
	if p.unread.Add(1) <= noteLines {
		fmt.Fprintf(p.o.ErrOut, "Cannot read the log of %s: %s\n", cmdutil.OneLine(failure.Source.String()), cmdutil.LogErrorLine(failure.Source.Pod.Node, failure.Err))
	}
}

// Interrupted reports on stderr that one log is interrupted, and that it continues.
func (p *logsOutput) Interrupted(source logs.Source, failure error) {
	log := cmdutil.OneLine(source.String())
	if failure == nil {
		fmt.Fprintf(p.o.ErrOut, "The log of %s can be read again.\n", log)
		return
	}
	fmt.Fprintf(p.o.ErrOut, "Cannot read the log of %s, retrying: %s\n", log, cmdutil.LogErrorLine(source.Pod.Node, failure))
}

// unreadError is nil if all logs were read.
func (p *logsOutput) unreadError() error {
	switch unread := p.unread.Load(); {
	case unread == 0:
		return nil
	case p.o.follow:
		return cmdutil.NewUserError(cmdutil.KindOther, nil, wording.Count(unread, "logs could not be read"), "")
	default:
		return cmdutil.NewUserError(cmdutil.KindOther, nil, wording.Of(int(unread), p.sources)+" logs could not be read", "")
	}
}
