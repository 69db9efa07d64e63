package cli

import (
	"context"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// follower prints Jobs and then every visible change of them. After a relist it prints what became different.
type follower struct {
	set     jobSet
	printer jobPrinter
	none    func() // says that there are no Jobs
	errOut  io.Writer
	env     environment

	known map[jobKey]shownJob
}

type jobKey struct{ namespace, name string }

// shownJob is a Job as it was printed last.
type shownJob struct {
	object    *unstructured.Unstructured
	signature string
}

func newFollower(o *statusOptions) *follower {
	return &follower{
		set:     jobSet{client: o.client, selector: o.selector, names: o.names},
		printer: o.printer,
		none:    o.reportNone,
		errOut:  o.ErrOut,
		env:     o.env,
		known:   map[jobKey]shownJob{},
	}
}

// run ends with the context's error, or with an error that no retry mends.
func (f *follower) run(ctx context.Context) error {
	version, err := f.start(ctx)
	if err != nil {
		return err
	}
	loop := watchLoop{target: watchedJobs{set: f.set, sink: f}, link: newLink(&linkNotes{out: f.errOut}, f.env)}
	return loop.run(ctx, version)
}

// start prints the first picture. Unlike later, an error here ends the verb, and so do names of which none exists.
func (f *follower) start(ctx context.Context) (string, error) {
	jobs, version, err := f.set.list(ctx)
	if err != nil {
		return "", err
	}
	missing := f.set.missing(jobs)
	switch {
	case len(jobs) == 0 && len(missing) > 0:
		return "", errors.Join(missing...)
	case len(jobs) == 0:
		f.none()
	}
	PrintError(f.errOut, errors.Join(missing...))
	return version, f.reconcile(jobs)
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
