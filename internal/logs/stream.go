package logs

import (
	"context"
	"errors"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// stream is one log on its way to the output, over one connection or several.
type stream struct {
	print      func(Line) error
	timestamps bool // each line begins with one
	position   position
	budget     byteBudget
}

// copy prints what of body was not printed before. With ended, a last line without a newline is printed too: nothing
// will be added to it.
func (s *stream) copy(body io.Reader, ended bool) error {
	reader := newLineReader(body, s.timestamps)
	before := s.position
	printed := false
	for !s.budget.isSpent() {
		line, err := reader.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.broken && !ended:
			// The rest will come, with all of the line, when the log is read again.
			continue
		case line.First:
			printed = before.covers(line.Time)
		}
		if printed {
			continue
		}
		if line.Last {
			s.position.advance(line.Time)
		}
		s.budget.spend(&line)
		if err := s.print(line); err != nil {
			return outputError{err}
		}
	}
	return nil
}

// position is how far a log was printed: up to a number of lines with the timestamp of the last one.
type position struct {
	time  time.Time
	lines int
}

func (p *position) advance(t time.Time) {
	switch {
	case t.Equal(p.time):
		p.lines++
	case t.After(p.time):
		*p = position{time: t, lines: 1}
	}
}

// covers reports whether a line was printed before, when a log is read again. It takes lines in the order of their time,
// and counts down those of the last moment.
func (p *position) covers(t time.Time) bool {
	switch {
	case p.time.IsZero() || t.IsZero() || t.After(p.time):
		return false
	case t.Before(p.time):
		return true
	}
	p.lines--
	return p.lines >= 0
}

// byteBudget is what LimitBytes leaves of a log.
type byteBudget struct {
	limited bool
	left    int64
}

func newByteBudget(limit int64) byteBudget { return byteBudget{limited: limit > 0, left: limit} }

func (b *byteBudget) isSpent() bool { return b.limited && b.left <= 0 }

// spend cuts the line where the budget ends.
func (b *byteBudget) spend(line *Line) {
	if !b.limited {
		return
	}
	n := int64(len(line.Text))
	if n >= b.left {
		line.Text = line.Text[:b.left]
	}
	b.left -= n + 1
}

// outputError is one of the output, which ends the reading of all logs.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// stopped returns the error that ends the reading of all logs; nil if err is about one of them.
func stopped(ctx context.Context, err error) error {
	var failed outputError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed):
		return failed.error
	}
	return nil
}

// isAboutLog reports whether the API server answered that it cannot get this log, as when its node is unreachable: what
// has no answer, or that of a proxy in front of the API server, is about the connection.
func isAboutLog(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && !apierrors.IsUnexpectedServerError(err) && !isRefused(err)
}

// isRefused reports whether the permission to read logs is missing: the other logs would meet that as well.
func isRefused(err error) bool {
	return (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)) && !isOfKubelet(err)
}

// isOfKubelet reports whether the API server passes on an answer of the kubelet: its details then name the subresource.
func isOfKubelet(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Details != nil && answer.Status().Details.Kind == "pods/log"
}
