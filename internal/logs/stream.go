package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// stream copies one log to the output, over one connection or several.
type stream struct {
	print      func(Line) error
	timestamps bool // each line starts with a timestamp
	position   position
	bytesLeft  int64 // the rest of LimitBytes
	// unfinished is the last line if it had no newline, while the log may continue; nil if there is none. Either the whole line
	// arrives when the log is read again, or the container was restarted, and the line is the last one of its run.
	unfinished *Line
}

// copy prints the lines of body that were not printed before. If ended is set, nothing will be appended to the log, so a last
// line without a newline is printed, too.
func (s *stream) copy(body io.Reader, ended bool) error {
	reader := newLineReader(body, s.timestamps)
	before := s.position
	printed := false
	for s.bytesLeft > 0 {
		line, err := reader.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.First:
			printed = before.covers(line.Time)
		}
		if printed {
			continue
		}
		if line.First && s.unfinished != nil {
			if err := s.finish(line.Time); err != nil {
				return err
			}
		}
		if line.incomplete && !ended {
			s.keep(line)
			continue
		}
		if err := s.write(line); err != nil {
			return err
		}
	}
	return nil
}

// keep sets the unfinished line. A line without a timestamp may have lost a part of the timestamp.
func (s *stream) keep(line Line) {
	if line.Time.IsZero() {
		return
	}
	line.Text = bytes.Clone(line.Text)
	s.unfinished = &line
}

// finish prints the unfinished line, given the time of the next line of the log: a later line belongs to the next run of the
// container, and a line of the same time is the whole line. The zero time stands for the end of the log.
func (s *stream) finish(next time.Time) error {
	line := s.unfinished
	if line == nil || !next.IsZero() && next.Before(line.Time) {
		return nil
	}
	s.unfinished = nil
	if next.Equal(line.Time) {
		return nil
	}
	return s.write(*line)
}

// write prints a line.
func (s *stream) write(line Line) error {
	if s.bytesLeft <= 0 {
		return nil
	}
	if line.Last {
		s.position.advance(line.Time)
	}
	line.Text = line.Text[:min(int64(len(line.Text)), s.bytesLeft)]
	s.bytesLeft -= int64(len(line.Text)) + 1
	if err := s.print(line); err != nil {
		return outputError{err}
	}
	return nil
}

// position is how far a log was printed: the timestamp of the last line, and the number of printed lines with that timestamp.
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

// covers reports whether a line was printed before, when a log is read again. It must be called with lines in the order of
// their time, and counts down the lines with the last timestamp.
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

// outputError is an error of the Output, which ends the reading of all logs.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// fatalError returns the error that ends the reading of all logs; nil if err is about a single log.
func fatalError(ctx context.Context, err error) error {
	var failed outputError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed):
		return failed.error
	}
	return nil
}

// isAboutLog reports whether the API server responded that it cannot read this log, for example because its node is
// unreachable. No response, or a response of a proxy in front of the API server, is about the connection.
func isAboutLog(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && !apierrors.IsUnexpectedServerError(err) && !isRefused(err)
}

// isRefused reports whether permission to read logs is missing, which affects the other logs as well.
func isRefused(err error) bool {
	return (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)) && !isFromKubelet(err)
}

// isFromKubelet reports whether the API server passes on a response of the kubelet: only then the details name the subresource.
func isFromKubelet(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Details != nil && answer.Status().Details.Kind == "pods/log"
}
