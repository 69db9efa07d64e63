package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// retryPolicy says how a lost connection is tried again.
type retryPolicy struct {
	first        time.Duration // first pause; each further one is twice as long
	max          time.Duration // longest pause
	refusalGrace time.Duration // how long a 403 is retried: a starting API server has not loaded its RBAC rules yet
}

// watched is a collection that a watchLoop keeps up with.
type watched interface {
	// list takes over all there is, and returns the resourceVersion to watch from.
	list(ctx context.Context) (version string, err error)
	watch(ctx context.Context, version string) (watch.Interface, error)
	// event takes over one event; bookmarks and errors never come here.
	event(kind watch.EventType, object runtime.Object) error
	// watchCall names the request, for errors that arrive within the watch.
	watchCall() apiCall
}

// finalError is one that no retry mends, or that is a reason to stop: what list and event wrap in it ends the loop.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(err error) error {
	if err == nil {
		return nil
	}
	return finalError{err}
}

// watchLoop keeps up with a collection for as long as its context lives.
//
// It holds a watch from the resourceVersion of a list, and continues it from the last version seen when it ends. When
// that version has expired (410), it lists again.
type watchLoop struct {
	target watched
	link   *link
}

// run continues from version, or lists first when it is "". It ends with the context's error, with what a finalError
// held, or with a refusal that lasts.
func (l *watchLoop) run(ctx context.Context, version string) error {
	for {
		var err error
		version, err = l.follow(ctx, version)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var end finalError
		if errors.As(err, &end) {
			return end.error
		}
		if err := l.link.wait(ctx, err); err != nil {
			return err
		}
	}
}

// follow watches from version, or lists first when it is "". It returns the version to continue from, and why the watch
// ended: nil for the ordinary end of a watch and for an expired version.
func (l *watchLoop) follow(ctx context.Context, version string) (string, error) {
	if version == "" {
		listed, err := l.target.list(ctx)
		if err != nil {
			return "", err
		}
		version = listed
	}
	w, err := l.target.watch(ctx, version)
	if err != nil {
		return afterFailure(version, err)
	}
	defer w.Stop()
	if neverOpened(w) {
		return version, newUserError(kindUnreachable, nil, "cannot reach the API server: it closes the connection", "")
	}
	l.link.connected()
	return l.consume(ctx, w, version)
}

// neverOpened detects what client-go returns, without an error, when the connection broke before the answer.
func neverOpened(w watch.Interface) bool {
	return reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch())
}

func (l *watchLoop) consume(ctx context.Context, w watch.Interface, version string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				return afterFailure(version, l.target.watchCall().wrap(apierrors.FromObject(event.Object)))
			}
			object, ok := event.Object.(metav1.Object)
			if !ok {
				return "", fmt.Errorf("unexpected %T in the watch of %s", event.Object, l.target.watchCall().resource)
			}
			l.link.heard()
			version = object.GetResourceVersion()
			if event.Type == watch.Bookmark {
				continue
			}
			if err := l.target.event(event.Type, event.Object); err != nil {
				return version, err
			}
		}
	}
}

// afterFailure forgets an expired version, which is no failure.
func afterFailure(version string, err error) (string, error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return "", nil
	}
	return version, err
}

// linkListener is told that a link is lost, with why, and that it is back.
type linkListener interface {
	down(failure error)
	up()
}

// linkNotes says once that the connection is lost and once that it is back, however many links share it.
type linkNotes struct {
	out io.Writer

	mu   sync.Mutex
	lost int // links
}

func (n *linkNotes) down(failure error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost++; n.lost == 1 {
		fmt.Fprintf(n.out, "The connection to the API server is lost, trying again: %s\n", oneLine(explainError(failure).Error()))
	}
}

func (n *linkNotes) up() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost--; n.lost == 0 {
		fmt.Fprintln(n.out, "The connection to the API server is back.")
	}
}

// link is the state of one connection: it notes that it is lost and that it is back, and makes pauses.
type link struct {
	notes  linkListener
	now    func() time.Time
	policy retryPolicy

	lost         bool
	pause        time.Duration // the next one
	refusedSince time.Time     // zero while the server does not refuse
}

func newLink(notes linkListener, env environment) *link {
	return &link{notes: notes, now: env.now, policy: env.retry}
}

// connected notes that the server answers.
func (l *link) connected() {
	if l.lost {
		l.notes.up()
	}
	l.lost = false
	l.refusedSince = time.Time{}
}

// heard notes that the connection delivers, so the next pause is a short one.
func (l *link) heard() { l.pause = 0 }

// wait pauses before the next attempt. It returns an error when there must be none: the context's, or a refusal that
// lasts. A nil failure is the ordinary end of a watch.
func (l *link) wait(ctx context.Context, failure error) error {
	if failure != nil {
		if l.refused(failure) {
			return failure
		}
		if !l.lost {
			l.lost = true
			l.notes.down(failure)
		}
	}
	return l.sleep(ctx, nil)
}

// sleep pauses, each time longer, unless news come.
func (l *link) sleep(ctx context.Context, news <-chan struct{}) error {
	l.pause = min(max(2*l.pause, l.policy.first), l.policy.max)
	timer := time.NewTimer(wait.Jitter(l.pause, 0.2)) //nolint:forbidigo // tests set the policy, and wait for nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-news:
	}
	return nil
}

// refused says whether failure is a refusal that will not go away.
func (l *link) refused(failure error) bool {
	if !refusal(failure) {
		l.refusedSince = time.Time{}
		return false
	}
	if l.refusedSince.IsZero() {
		l.refusedSince = l.now()
	}
	return l.now().Sub(l.refusedSince) >= l.policy.refusalGrace
}

func refusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}
