package cli

import (
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// refusals is how often the log of an ended container is asked for when the server answers with an error.
const refusals = 3

// logPosition is how far a log was printed: up to a number of lines with the timestamp of the last one.
type logPosition struct {
	time  time.Time
	lines int
}

// resume skips what was printed before, when a log is read again from its position.
type resume struct {
	from logPosition
	seen int
}

// isNew says whether a line was not printed before. Lines come in the order of their time.
func (r *resume) isNew(t time.Time) bool {
	switch {
	case r.from.time.IsZero() || t.IsZero() || t.After(r.from.time):
		return true
	case t.Before(r.from.time):
		return false
	}
	r.seen++
	return r.seen > r.from.lines
}

func (p *logPosition) printed(t time.Time) {
	switch {
	case t.Equal(p.time):
		p.lines++
	case t.After(p.time):
		*p = logPosition{time: t, lines: 1}
	}
}

// linePrinter takes the lines of a log in order. An error ends the reading.
type linePrinter interface {
	print(source logSource, line logLine) error
}

// followedLog is one log that is read until its container has ended, over any number of connections.
type followedLog struct {
	o      *logsOptions
	to     linePrinter
	source logSource
	link   *feed.Connection
	ended  func() bool   // the container has ended, or is gone
	news   chan struct{} // of the container

	began    time.Time // of the first connection that was answered
	position logPosition
	budget   *byteBudget
	refused  int
	spent    bool // the budget
}

func (l *followedLog) run(ctx context.Context) error {
	defer l.link.Connected() // a log that is over waits for nothing
	for {
		// Asked first: what was written before the end is then read for certain.
		ended := l.ended()
		err := l.readOn(ctx, ended)
		if l.spent || (err == nil && ended) || apierrors.IsNotFound(err) {
			return nil
		}
		if err := l.pause(ctx, err, ended); err != nil {
			return err
		}
	}
}

// pause waits before the log is read on. It returns an error when that makes no sense.
func (l *followedLog) pause(ctx context.Context, err error, ended bool) error {
	var end finalError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &end):
		return end.error
	case err == nil, apierrors.IsBadRequest(err) && !ended: // its next run has not started yet
		return l.link.Retry(ctx, nil, l.news)
	case (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)) && l.began.IsZero():
		return err
	case ended && l.refusedTooOften(err):
		return &unreadLogError{source: l.source, err: err}
	}
	return l.link.Retry(ctx, err, nil)
}

// finalError is one that no retry mends, or that is a reason to stop.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(err error) error {
	if err == nil {
		return nil
	}
	return finalError{err}
}

// unreadLogError is a log that cannot be read; others can.
type unreadLogError struct {
	source logSource
	err    error
}

func (e *unreadLogError) Error() string {
	return "the log of " + sourceName(e.source) + ": " + e.err.Error()
}
func (e *unreadLogError) Unwrap() error { return e.err }

func (l *followedLog) refusedTooOften(err error) bool {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		l.refused++
	}
	return l.refused >= refusals
}

// readOn reads from the position until the connection ends; nil when the server has ended it.
func (l *followedLog) readOn(ctx context.Context, ended bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := l.o.pods.open(ctx, l.source.pod.name, l.request())
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	if l.began.IsZero() {
		l.began = l.o.env.now()
	}
	l.link.Connected()
	reader := newLogReader(body, true)
	resume := &resume{from: l.position}
	fresh := true
	for {
		line, err := reader.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// The rest of a line that broke off will come, with all of it, when the log is read again.
		if line.broken && !ended {
			continue
		}
		if line.first {
			fresh = resume.isNew(line.time)
		}
		if !fresh {
			continue
		}
		if err := l.print(line); err != nil || l.spent {
			return final(err)
		}
	}
}

func (l *followedLog) print(line logLine) error {
	l.link.Heard()
	l.refused = 0
	if line.last {
		l.position.printed(line.time)
	}
	l.spent = !l.budget.spend(&line)
	return l.to.print(l.source, line)
}

// request asks for what was not printed yet, and perhaps for some that was: the server counts in seconds.
func (l *followedLog) request() *corev1.PodLogOptions {
	options := l.o.request(l.source)
	options.Follow = !l.source.previous
	if l.began.IsZero() {
		return options
	}
	// The tail was counted when the log was first opened. From then on all counts.
	tailed := options.TailLines
	options.TailLines = nil
	switch {
	case !l.position.time.IsZero():
		options.SinceSeconds, options.SinceTime = nil, &metav1.Time{Time: l.position.time}
	case options.SinceSeconds != nil:
		options.SinceSeconds = wholeSeconds(l.o.since + l.o.env.now().Sub(l.began))
	case tailed != nil && *tailed == 0 && options.SinceTime == nil:
		options.SinceSeconds = wholeSeconds(l.o.env.now().Sub(l.began))
	}
	return options
}
