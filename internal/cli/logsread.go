package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// noteLines is how many notes of one kind are printed.
const noteLines = 10

// openedLog is the answer to the request for a log.
type openedLog struct {
	body io.ReadCloser
	err  error
}

// read prints what there is. Logs are requested a few at a time, and printed one after the other.
func (o *logsOptions) read(ctx context.Context) error {
	pods, _, err := o.pods.list(ctx)
	if err != nil {
		return err
	}
	book := newPodBook()
	book.replace(pods)
	notes := newLogNotes(o)
	var sources []logSource
	for _, pod := range book.sorted() {
		wanted, without := o.choice.of(pod)
		sources = append(sources, wanted...)
		notes.unstarted(pod, without)
	}
	if len(sources) == 0 && len(o.unknown) > 0 {
		return newUserError(kindNotFound, nil, fmt.Sprintf("no pod of %s has a container %s", o.jobLabel(), strings.Join(o.unknown, ", ")),
			"its template has: "+strings.Join(templateContainers(o.job), ", "))
	}
	notes.pods(o.job, book, len(sources))
	o.printer.arrange(sources)
	return o.readInOrder(ctx, sources)
}

func (o *logsOptions) readInOrder(ctx context.Context, sources []logSource) error {
	ctx, cancel := context.WithCancel(ctx)
	// One log is being printed, the others of the window wait in the queue.
	queue := make(chan chan openedLog, o.maxRequests-1)
	go o.openInOrder(ctx, sources, queue)
	defer func() {
		cancel()
		for answer := range queue {
			if opened := <-answer; opened.err == nil {
				_ = opened.body.Close()
			}
		}
	}()
	unread := 0
	for _, source := range sources {
		answer, open := <-queue
		if !open {
			return ctx.Err()
		}
		err := o.printLog(source, <-answer)
		if err == nil {
			continue
		}
		if end := endOfAll(ctx, err); end != nil {
			return end
		}
		if unread++; unread <= noteLines {
			fmt.Fprintf(o.ErrOut, "Cannot read the log of %s: %s\n", sourceName(source), cause(err))
		}
	}
	if unread > 0 {
		return newUserError(kindOther, nil, fmt.Sprintf("%d of %d logs could not be read", unread, len(sources)), "")
	}
	return nil
}

// openInOrder asks for the logs, as far ahead as there is room in the queue.
func (o *logsOptions) openInOrder(ctx context.Context, sources []logSource, queue chan<- chan openedLog) {
	defer close(queue)
	for _, source := range sources {
		answer := make(chan openedLog, 1)
		select {
		case queue <- answer:
		case <-ctx.Done():
			return
		}
		go func() {
			body, err := o.pods.open(ctx, source.pod.name, o.request(source))
			answer <- openedLog{body: body, err: err}
		}()
	}
}

// endOfAll is an error that the other logs would meet as well, or that says to stop; nil for one of this log alone.
func endOfAll(ctx context.Context, err error) error {
	var end finalError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &end):
		return end.error
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return err
	}
	return nil
}

// cause is what went wrong with a log, without what to do about it.
func cause(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return oneLine(status.Status().Message)
	}
	return oneLine(explainError(err).Error())
}

// sourceName is for notes.
func sourceName(s logSource) string {
	return oneLine(fmt.Sprintf("pod %s, container %s", s.pod.name, s.container))
}

// printLog prints one log to its end.
func (o *logsOptions) printLog(source logSource, opened openedLog) error {
	if opened.err != nil {
		return opened.err
	}
	defer opened.body.Close() //nolint:errcheck // it was only read
	reader := newLogReader(opened.body, o.timestamps)
	budget := newByteBudget(o.limitBytes)
	for {
		line, err := reader.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		more := budget.spend(&line)
		if err := o.printer.print(source, line); err != nil {
			return finalError{err}
		}
		if !more {
			return nil
		}
	}
}

// byteBudget is what --limit-bytes leaves of a log.
type byteBudget struct {
	limited bool
	left    int64
}

func newByteBudget(limit int64) *byteBudget { return &byteBudget{limited: limit > 0, left: limit} }

// spend cuts the line where the budget ends, and says whether there is more.
func (b *byteBudget) spend(line *logLine) bool {
	if !b.limited {
		return true
	}
	n := int64(len(line.text))
	if n >= b.left {
		line.text = line.text[:b.left]
		b.left = 0
		return false
	}
	b.left -= n + 1
	return b.left > 0
}
