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

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// watchSeconds is the timeout at which the server ends a watch, which is then resumed.
const watchSeconds = 300

// UnwatchedRetry is the polling interval for resources that a verb needs but may not watch.
const UnwatchedRetry = 5 * time.Second

// Collection defines the objects that a Watch follows.
type Collection struct {
	// Call describes the requests in errors; its verb is ignored.
	Call apicall.Call
	// List reads all objects and returns the resourceVersion to watch from.
	List func(context.Context) (version string, err error)
	// Open starts a watch; it adds its selectors to the options.
	Open func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// OnEvent handles one event, except bookmarks and errors. An error ends the Watch.
	OnEvent func(watch.EventType, runtime.Object) error
}

// Watch follows a Collection. It watches from the resourceVersion of a list, and when the watch ends it resumes from the last
// version seen. If that version has expired (410), it lists again.
type Watch struct {
	Collection
	Connection *Connection
	// Version is the resourceVersion to resume from; "" lists first.
	Version string
	// RetryAfter is the pause after a refused watch before the Watch lists again; 0 disables that.
	RetryAfter time.Duration
	// Optional makes the Watch try again after RetryAfter whatever error ended it, because the caller can do without the data.
	Optional bool
	// OnRefusal, if set, receives the refusal that will be retried after RetryAfter, and nil when a watch is open.
	OnRefusal func(*Refusal)
}

// Refusal is the reason why a Collection is not watched.
type Refusal struct {
	Call       apicall.Call
	Err        error
	RetryAfter time.Duration
}

// Unwatched reports whether only the watch is forbidden, and the Collection can be listed.
func (r *Refusal) Unwatched() bool { return r.Call.Verb == "watch" && apierrors.IsForbidden(r.Err) }

// ErrClosed is returned if the API server closes the connection without a response.
var ErrClosed = errors.New("the API server closes the connection")

// stopError is an error of a callback, which ends the Watch.
type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

func wrapStop(err error) error {
	if err == nil {
		return nil
	}
	return stopError{err}
}

// Run returns the context's error, an error of a callback, or a refusal that lasts. If the connection is lost at that time,
// it stays marked as lost.
func (w *Watch) Run(ctx context.Context) error {
	for {
		err := w.follow(ctx)
		var stopped stopError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &stopped):
			return stopped.error
		case !w.isRefused(err):
			if err = w.Connection.AwaitRetry(ctx, err, nil); err == nil {
				continue
			}
			if ctx.Err() != nil || !w.Optional {
				return err
			}
		}
		w.Connection.Connected() // A refusal does not make data stale.
		w.report(&Refusal{Call: w.call(apicall.Of(err).Verb), Err: err, RetryAfter: w.RetryAfter})
		if err := w.Connection.timing.Pause(ctx, w.RetryAfter, nil); err != nil {
			return err
		}
		w.Version = ""
	}
}

// isRefused reports whether err is a refusal that is retried only after RetryAfter.
func (w *Watch) isRefused(err error) bool {
	return apierrors.IsForbidden(err) && (w.Optional || w.RetryAfter > 0 && apicall.Of(err).Verb == "watch")
}

func (w *Watch) report(r *Refusal) {
	if w.OnRefusal != nil {
		w.OnRefusal(r)
	}
}

func (w *Watch) call(verb string) apicall.Call {
	call := w.Call
	call.Verb = verb
	return call
}

// follow watches from Version, after listing if Version is "". It returns the error that ended the watch: nil for its regular
// end and for an expired version.
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
		return w.watchError(err)
	}
	defer opened.Stop()
	if isEmptyWatch(opened) {
		return ErrClosed
	}
	w.Connection.Connected()
	w.report(nil)
	return w.consume(ctx, opened)
}

// isEmptyWatch detects the empty watch that client-go returns, without an error, if the connection broke before the response.
func isEmptyWatch(w watch.Interface) bool {
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
				return w.watchError(apierrors.FromObject(event.Object))
			}
			object, ok := event.Object.(metav1.Object)
			if !ok {
				return wrapStop(fmt.Errorf("unexpected %T in the watch of %s", event.Object, w.Call.Resource))
			}
			w.Connection.Received()
			w.Version = object.GetResourceVersion()
			if event.Type == watch.Bookmark {
				continue
			}
			if err := w.OnEvent(event.Type, event.Object); err != nil {
				return wrapStop(err)
			}
		}
	}
}

// watchError wraps an error of the watch. If Version has expired (410), it resets Version and returns nil.
func (w *Watch) watchError(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		w.Version = ""
		return nil
	}
	return w.call("watch").Wrap(err)
}
