package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// retryPolicy says how a lost connection is tried again.
type retryPolicy struct {
	first        time.Duration // first pause; each further one is twice as long
	max          time.Duration // longest pause
	refusalGrace time.Duration // how long a 403 is retried: a starting API server has not loaded its RBAC rules yet
}

// follower prints Jobs and then every visible change of them.
//
// It holds a watch from the resourceVersion of its list, and continues it from the last version seen when it ends. When
// that version has expired (410), it lists again and prints what became different.
type follower struct {
	client  *jobClient
	options metav1.ListOptions
	names   []string // none for all
	printer jobPrinter
	none    func() // says that there are no Jobs
	errOut  io.Writer
	link    link

	known map[jobKey]shownJob
}

type jobKey struct{ namespace, name string }

// shownJob is a Job as it was printed last.
type shownJob struct {
	object    *unstructured.Unstructured
	signature string
}

// outputError is a failure to print, which no retry mends.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

func newFollower(o *statusOptions) *follower {
	options := metav1.ListOptions{LabelSelector: o.selector}
	if len(o.names) == 1 {
		options.FieldSelector = "metadata.name=" + o.names[0]
	}
	return &follower{
		client:  o.client,
		options: options,
		names:   o.names,
		printer: o.printer,
		none:    o.reportNone,
		errOut:  o.ErrOut,
		link:    link{errOut: o.ErrOut, now: o.env.now, policy: o.env.retry},
		known:   map[jobKey]shownJob{},
	}
}

// run ends with the context's error, or with an error that no retry mends.
func (f *follower) run(ctx context.Context) error {
	version, err := f.start(ctx)
	if err != nil {
		return err
	}
	for {
		version, err = f.follow(ctx, version)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var output outputError
		if errors.As(err, &output) {
			return output.error
		}
		if err := f.link.wait(ctx, err); err != nil {
			return err
		}
	}
}

// start prints the first picture. Unlike later, an error here ends the verb, and so do names of which none exists.
func (f *follower) start(ctx context.Context) (string, error) {
	jobs, version, err := f.list(ctx)
	if err != nil {
		return "", err
	}
	missing := f.missing(jobs)
	switch {
	case len(jobs) == 0 && len(missing) > 0:
		return "", errors.Join(missing...)
	case len(jobs) == 0:
		f.none()
	}
	PrintError(f.errOut, errors.Join(missing...))
	return version, f.reconcile(jobs)
}

func (f *follower) missing(jobs []*unstructured.Unstructured) []error {
	var missing []error
	for _, name := range f.names {
		if !slices.ContainsFunc(jobs, func(job *unstructured.Unstructured) bool { return job.GetName() == name }) {
			missing = append(missing, f.client.notFound(name))
		}
	}
	return missing
}

func (f *follower) list(ctx context.Context) ([]*unstructured.Unstructured, string, error) {
	jobs, version, err := f.client.list(ctx, f.options)
	if err != nil {
		return nil, "", err
	}
	jobs = slices.DeleteFunc(jobs, func(job *unstructured.Unstructured) bool { return !f.wants(job) })
	sortJobs(jobs)
	return jobs, version, nil
}

func (f *follower) wants(job *unstructured.Unstructured) bool {
	return len(f.names) == 0 || slices.Contains(f.names, job.GetName())
}

// follow watches from version, or lists first when it is "". It returns the version to continue from, and why the watch
// ended: nil for the ordinary end of a watch and for an expired version.
func (f *follower) follow(ctx context.Context, version string) (string, error) {
	if version == "" {
		jobs, listed, err := f.list(ctx)
		if err != nil {
			return "", err
		}
		if err := f.reconcile(jobs); err != nil {
			return "", outputError{err}
		}
		version = listed
	}
	w, err := f.client.watch(ctx, f.options, version)
	if err != nil {
		return afterFailure(version, err)
	}
	defer w.Stop()
	if neverOpened(w) {
		return version, newUserError(kindUnreachable, nil, "cannot reach the API server: it closes the connection", "")
	}
	f.link.connected()
	return f.consume(ctx, w, version)
}

// neverOpened detects what client-go returns, without an error, when the connection broke before the answer.
func neverOpened(w watch.Interface) bool {
	return reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch())
}

func (f *follower) consume(ctx context.Context, w watch.Interface, version string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				return afterFailure(version, f.client.call("watch", "").wrap(apierrors.FromObject(event.Object)))
			}
			job, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return "", fmt.Errorf("unexpected %T in the watch of Jobs", event.Object)
			}
			f.link.heard()
			version = job.GetResourceVersion()
			if err := f.apply(event.Type, job); err != nil {
				return version, outputError{err}
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

func (f *follower) apply(event watch.EventType, job *unstructured.Unstructured) error {
	switch {
	case event == watch.Bookmark, !f.wants(job):
		return nil
	case event == watch.Deleted:
		return f.removed(job)
	}
	return f.changed(job)
}

// reconcile prints how jobs, all there are, differ from what is known.
func (f *follower) reconcile(jobs []*unstructured.Unstructured) error {
	present := map[jobKey]bool{}
	for _, job := range jobs {
		present[keyOf(job)] = true
	}
	var gone []*unstructured.Unstructured
	for key, shown := range f.known {
		if !present[key] {
			gone = append(gone, shown.object)
		}
	}
	sortJobs(gone)
	for _, job := range gone {
		if err := f.removed(job); err != nil {
			return err
		}
	}
	return f.changed(jobs...)
}

// changed prints those of jobs that look different from their last row.
func (f *follower) changed(jobs ...*unstructured.Unstructured) error {
	var news []*unstructured.Unstructured
	for _, job := range jobs {
		signature, err := f.printer.signature(job)
		if err != nil {
			return err
		}
		signature = string(job.GetUID()) + "\n" + signature
		if shown, ok := f.known[keyOf(job)]; ok && shown.signature == signature {
			continue
		}
		f.known[keyOf(job)] = shownJob{object: job, signature: signature}
		news = append(news, job)
	}
	if len(news) == 0 {
		return nil
	}
	return f.printer.rows(news, false)
}

// removed prints the last row of a Job that is gone; nothing for one that was never printed.
func (f *follower) removed(job *unstructured.Unstructured) error {
	if _, ok := f.known[keyOf(job)]; !ok {
		return nil
	}
	delete(f.known, keyOf(job))
	return f.printer.rows([]*unstructured.Unstructured{job}, true)
}

func keyOf(job *unstructured.Unstructured) jobKey {
	return jobKey{namespace: job.GetNamespace(), name: job.GetName()}
}

// link is the state of the connection: it says once that it is lost and once that it is back, and makes pauses.
type link struct {
	errOut io.Writer
	now    func() time.Time
	policy retryPolicy

	lost         bool
	pause        time.Duration // the next one
	refusedSince time.Time     // zero while the server does not refuse
}

// connected notes that a watch is open.
func (l *link) connected() {
	if l.lost {
		fmt.Fprintln(l.errOut, "The connection to the API server is back.")
	}
	l.lost = false
	l.refusedSince = time.Time{}
}

// heard notes that the watch delivers, so the next pause is a short one.
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
			fmt.Fprintf(l.errOut, "The connection to the API server is lost, trying again: %s\n", oneLine(explainError(failure).Error()))
		}
	}
	l.pause = min(max(2*l.pause, l.policy.first), l.policy.max)
	timer := time.NewTimer(wait.Jitter(l.pause, 0.2)) //nolint:forbidigo // tests set the policy, and wait for nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
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
