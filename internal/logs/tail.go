package logs

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// maxRefusals is how often the log of an ended container is requested if the server responds with an error.
const maxRefusals = 3

// Tail follows one log until its container has ended, over any number of connections.
type Tail struct {
	Options Options
	Source  Source
	// HasEnded reports whether the container has ended, or is gone. PodChanged, sent when that may have changed, ends a pause.
	HasEnded   func() bool
	PodChanged <-chan struct{}
	// OnLine receives the lines in order. An error ends the reading.
	OnLine func(Line) error
	// OnInterrupted receives the error if the log cannot be read for now although the API server responds, and nil when it can
	// be read again.
	OnInterrupted func(failure error)

	connection    Connection
	stream        stream
	firstResponse time.Time // when the server first responded
	refused       int
	interrupted   bool
}

// Run reads the log. It returns a NotFound error if there is no log, and an *UnreadableError if only this log cannot be read.
func (t *Tail) Run(ctx context.Context) error {
	t.connection = t.Options.Connect()
	t.stream = stream{print: t.print, timestamps: true, bytesLeft: t.Options.maxBytes()}
	defer t.connection.Connected() // no request is pending after the end
	for {
		// Called before read, so that everything written before the end is read.
		ended := t.HasEnded()
		err := t.read(ctx, ended)
		switch {
		case err == nil && (ended || t.stream.bytesLeft <= 0):
			return t.end(ctx)
		case kube.IsNotFound(err) && isFromKubelet(err) && !ended: // The kubelet has restarted, and will know the pod soon.
		case kube.IsNotFound(err) && t.firstResponse.IsZero():
			return err
		case kube.IsNotFound(err):
			return t.end(ctx)
		}
		if err := t.pause(ctx, err, ended); err != nil {
			return err
		}
	}
}

// end prints the last line of a log that has ended, if it had no newline and did not arrive again.
func (t *Tail) end(ctx context.Context) error {
	if err := t.stream.finish(time.Time{}); err != nil {
		return fatalError(ctx, err)
	}
	return nil
}

// read prints the log from the position until the connection ends; it returns nil if the server ended it.
func (t *Tail) read(ctx context.Context, ended bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := t.Options.Open(ctx, t.Source.Pod.Name, t.request())
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	if t.firstResponse.IsZero() {
		t.firstResponse = t.Options.Now()
	}
	t.connection.Connected()
	if t.interrupted {
		t.interrupted = false
		t.OnInterrupted(nil)
	}
	return t.stream.copy(body, ended)
}

func (t *Tail) print(line Line) error {
	t.connection.Received()
	t.refused = 0
	return t.OnLine(line)
}

// pause waits before the log is read again. It returns an error if the log must not be read again.
func (t *Tail) pause(ctx context.Context, err error, ended bool) error {
	if stop := fatalError(ctx, err); stop != nil {
		return stop
	}
	var answer apierrors.APIStatus
	if ended && errors.As(err, &answer) {
		t.refused++
	}
	switch {
	case err == nil, apierrors.IsBadRequest(err) && !ended: // its next run has not started yet
		return t.connection.AwaitRetry(ctx, nil, t.PodChanged)
	case isRefused(err) && apierrors.IsForbidden(err) && t.firstResponse.IsZero(): // An expired token may be renewed.
		return err
	case ended && t.refused >= maxRefusals:
		return &UnreadableError{Source: t.Source, Err: err}
	case isAboutLog(err):
		t.connection.Connected()
		if !ended && !t.interrupted { // An ended log is given up soon, with a message of its own.
			t.interrupted = true
			t.OnInterrupted(err)
		}
		return t.connection.AwaitRetry(ctx, nil, nil)
	}
	return t.connection.AwaitRetry(ctx, err, nil)
}

// request returns the request for the part that was not printed yet, and perhaps for some printed lines: the server's
// resolution is seconds.
func (t *Tail) request() *corev1.PodLogOptions {
	request := t.Options.request(t.Source)
	request.Timestamps, request.Follow = true, !t.Source.Previous
	if t.firstResponse.IsZero() {
		return request
	}
	// TailLines applied to the first request. From then on, all lines are read.
	tailed := request.TailLines
	request.TailLines = nil
	switch {
	case !t.stream.position.time.IsZero():
		request.SinceSeconds, request.SinceTime = nil, &metav1.Time{Time: t.stream.position.time}
	case request.SinceSeconds != nil:
		request.SinceSeconds = wholeSeconds(t.Options.Since + t.Options.Now().Sub(t.firstResponse))
	case tailed != nil && *tailed == 0 && request.SinceTime == nil:
		request.SinceSeconds = wholeSeconds(t.Options.Now().Sub(t.firstResponse))
	}
	return request
}
