package cli

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// noteLines is how many notes of one kind are printed.
const noteLines = 10

// logsOutput prints lines to stdout, and to stderr what is not read.
type logsOutput struct {
	o       *logsOptions
	notes   logNotes
	printer *logPrinter

	begun   bool
	sources int // found at first
	unread  int
}

func newLogsOutput(o *logsOptions) *logsOutput {
	return &logsOutput{o: o, notes: logNotes{o: o, out: o.ErrOut}, printer: newLogPrinter(o)}
}

func (p *logsOutput) Found(found logs.Found) error {
	if !p.begun && !p.o.follow && len(found.Sources) == 0 && len(p.o.unknown) > 0 {
		return newUserError(kindNotFound, nil, fmt.Sprintf("no pod of %s has a container %s", p.o.jobLabel(), strings.Join(p.o.unknown, ", ")),
			"its template has: "+strings.Join(templateContainers(p.o.job), ", "))
	}
	p.notes.unstarted(found.Unstarted)
	if !p.begun {
		p.notes.missing(found)
		p.begun, p.sources = true, len(found.Sources)
	}
	if found.Waiting > 0 {
		fmt.Fprintf(p.o.ErrOut, "%d logs are followed at a time (--max-log-requests); %d more wait until one ends.\n", p.o.options.Concurrency, found.Waiting)
	}
	p.printer.arrange(found.Sources)
	return nil
}

func (p *logsOutput) Line(source logs.Source, line logs.Line) error {
	return p.printer.print(source, line)
}

func (p *logsOutput) Unreadable(failure *logs.UnreadableError) {
	if p.unread++; p.unread <= noteLines {
		fmt.Fprintf(p.o.ErrOut, "Cannot read the log of %s: %s\n", oneLine(failure.Source.String()), cause(failure.Err))
	}
}

// unreadError is nil if all logs were read.
func (p *logsOutput) unreadError() error {
	switch {
	case p.unread == 0:
		return nil
	case p.o.follow:
		return newUserError(kindOther, nil, fmt.Sprintf("%d logs could not be read", p.unread), "")
	}
	return newUserError(kindOther, nil, fmt.Sprintf("%d of %d logs could not be read", p.unread, p.sources), "")
}

// cause is what went wrong with a log, without what to do about it.
func cause(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return oneLine(status.Status().Message)
	}
	return oneLine(explainError(err).Error())
}
