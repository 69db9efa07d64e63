package feed

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
)

// watchSeconds is when the server ends a watch, which is then continued.
const watchSeconds = 300

// UnwatchedRetry is how often a verb reads what it lives on and may not watch.
const UnwatchedRetry = 5 * time.Second

// Collection is the objects that a Watch follows.
type Collection struct {
	// Call names the requests in errors, whatever its verb.
	Call apicall.Call
	// List takes over all objects there are, and returns the resourceVersion to watch from.
	List func(context.Context) (version string, err error)
	// Open starts a watch; it adds its selectors to the options.
	Open func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// Take takes over one event; bookmarks and errors never come here. An error ends the Watch.
	Take func(watch.EventType, runtime.Object) error
}

// Watch keeps up with a Collection. It holds a watch from the resourceVersion of a list, and continues it from the last
// version seen when it ends. When that version has expired (410), it lists again.
type Watch struct {
	Collection
	Connection *Connection
	// Version is what to continue from; "" lists first.
	Version string
	// Retry is how long after the refusal of a watch all is listed again; 0 for not at all.
	Retry time.Duration
	// Optional has the Watch try again after Retry whatever has ended it: there is something to show without it.
	Optional bool
	// Refused takes note of what is tried again after Retry; of nil when a watch is open. It may be nil.
	Refused func(*Refusal)
}

// Refusal is why a Collection is not watched.
type Refusal struct {
	Call  apicall.Call
	Err   error
	Retry time.Duration
}

// Unwatched reports that the Collection can be listed, and only not be watched.
func (r *Refusal) Unwatched() bool { return r.Call.Verb == "watch" && apierrors.IsForbidden(r.Err) }

// ErrClosed is an API server that closes the connection without an answer.
var ErrClosed = errors.New("the API server closes the connection")

// stopError is an error of a caller, which ends a Watch.
type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

func stop(err error) error {
	if err == nil {
		return nil
	}
	return stopError{err}
}

// Run ends with the context's error, with an error of Take, or with a refusal that lasts. A Connection that is lost then
// stays lost.
func (w *Watch) Run(ctx context.Context) error {
	for {
		err := w.follow(ctx)
		var stopped stopError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &stopped):
			return stopped.error
		case !w.refused(err):
			if err = w.Connection.Retry(ctx, err, nil); err == nil {
				continue
			}
			if ctx.Err() != nil || !w.Optional {
				return err
			}
		}
		w.Connection.Connected() // Nothing is stale for a refusal.
		w.report(&Refusal{Call: w.call(apicall.Of(err).Verb), Err: err, Retry: w.Retry})
		if err := w.Connection.timing.Pause(ctx, w.Retry, nil); err != nil {
			return err
		}
		w.Version = ""
	}
}

// refused reports that the server has refused what is asked for again after Retry only.
func (w *Watch) refused(err error) bool {
	return apierrors.IsForbidden(err) && (w.Optional || w.Retry > 0 && apicall.Of(err).Verb == "watch")
}

func (w *Watch) report(r *Refusal) {
	if w.Refused != nil {
		w.Refused(r)
	}
}

func (w *Watch) call(verb string) apicall.Call {
	call := w.Call
	call.Verb = verb
	return call
}

// follow watches from Version, or lists first when it is "". It returns why the watch ended: nil for the ordinary end of
// a watch and for an expired version.
func (w *Watch) follow(ctx context.Context) error {
	if w.Version == "" {
		version, err := w.List(ctx)
		if err != nil {
			return err
		}
		w.Version = version
	}
	opened, err := w.Open(ctx, metav1.ListOptions{
		ResourceVersion: w.Version, AllowWatchBookmarks: true, TimeoutSeconds: ptr.To[int64](watchSeconds),
	})
	if err != nil {
		return w.failed(err)
	}
	defer opened.Stop()
	if neverOpened(opened) {
		return ErrClosed
	}
	w.Connection.Connected()
	w.report(nil)
	return w.consume(ctx, opened)
}

// neverOpened detects what client-go returns, without an error, when the connection broke before the answer.
func neverOpened(w watch.Interface) bool {
	return reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch())
}

func (w *Watch) consume(ctx context.Context, opened watch.Interface) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-opened.ResultChan():
			if !open {
				return nil
			}
			if event.Type == watch.Error {
				return w.failed(apierrors.FromObject(event.Object))
			}
			object, ok := event.Object.(metav1.Object)
			if !ok {
				return stop(fmt.Errorf("unexpected %T in the watch of %s", event.Object, w.Call.Resource))
			}
			w.Connection.Heard()
			w.Version = object.GetResourceVersion()
			if event.Type == watch.Bookmark {
				continue
			}
			if err := w.Take(event.Type, event.Object); err != nil {
				return stop(err)
			}
		}
	}
}

// failed forgets an expired version, which is no failure.
func (w *Watch) failed(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		w.Version = ""
		return nil
	}
	return w.call("watch").Wrap(err)
}
