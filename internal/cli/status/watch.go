package status

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// follower prints Jobs and then every visible change of them.
type follower struct {
	printer jobprinter.Printer
	shown   map[snapshot.JobKey]shownJob
}

// shownJob is a Job as it was printed last.
type shownJob struct {
	object    *unstructured.Unstructured
	signature string
}

// follow ends with the context's error, or with an error that is not retried. An error of the first list ends it, and so do
// names of which none exists.
func (o *Options) follow(ctx context.Context) error {
	f := &follower{printer: o.printer, shown: map[snapshot.JobKey]shownJob{}}
	link, stop := o.Connect(ctx, o.explainer.Client, o.ErrOut)
	defer stop()
	jobs := &feed.Jobs{Watch: cmdutil.Watch(link, o.ErrOut), Set: o.set, Each: f.take}
	first, err := jobs.First(ctx)
	if err != nil {
		return err
	}
	missing := jobs.Set.Missing(first)
	switch {
	case len(first) == 0 && len(missing) > 0:
		return errors.Join(missing...)
	case len(first) == 0:
		o.reportNone()
	}
	cmdutil.PrintError(o.ErrOut, errors.Join(missing...))
	return jobs.Run(ctx)
}

// take prints the last row of each Job that is gone, and then those that look different from their last row.
func (f *follower) take(updates []feed.Update) error {
	var news []*unstructured.Unstructured
	for i := range updates {
		u := &updates[i]
		if u.Gone != "" {
			if err := f.remove(u); err != nil {
				return err
			}
			continue
		}
		signature, err := f.printer.Signature(u.Job)
		if err != nil {
			return err
		}
		signature = string(u.UID) + "\n" + signature
		if shown, ok := f.shown[u.Key]; !ok || shown.signature != signature {
			f.shown[u.Key] = shownJob{object: u.Job, signature: signature}
			news = append(news, u.Job)
		}
	}
	if len(news) == 0 {
		return nil
	}
	return f.printer.Rows(news, false)
}

// remove prints the last row of a Job that is gone; nothing for one in whose place another comes.
func (f *follower) remove(u *feed.Update) error {
	if u.Gone == feed.Replaced {
		return nil
	}
	last := u.Job
	if last == nil {
		last = f.shown[u.Key].object
	}
	delete(f.shown, u.Key)
	return f.printer.Rows([]*unstructured.Unstructured{last}, true)
}
