package status

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
)

// follower prints Jobs, and then every visible change of them.
type follower struct {
	*Options
	mu   sync.Mutex
	jobs map[types.UID]*followedJob
}

// followedJob is a Job as last seen.
type followedJob struct {
	*follow.Job
	signature string // of its last row; "" for none
}

// follow returns the context's error, or an error that is not retried: any error of the first list, or errors about
// the names if none of them exists.
func (o *Options) follow(ctx context.Context) error {
	ctx = requests.Followed(ctx)
	f := &follower{Options: o, jobs: map[types.UID]*followedJob{}}
	link, stop := o.Connect(ctx, o.explainer.Client, o.ErrOut)
	defer stop()
	jobs := &feed.Jobs{Watch: cmdutil.Watch(link, o.ErrOut), Set: o.set, OnUpdates: f.take}
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
	if _, err := o.markStalls(ctx, first); err != nil {
		return err
	}
	return f.run(ctx, jobs)
}

// run follows Jobs, and rereads periodically which of them are stalled.
func (f *follower) run(ctx context.Context, jobs *feed.Jobs) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return jobs.Run(ctx) })
	if f.needsStalls() {
		group.Go(func() error { return f.stalls.Run(ctx, nil, f.all, f.again) })
	}
	return group.Wait()
}

// all returns the Jobs as last seen.
func (f *follower) all() []*batchv1.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	var jobs []*batchv1.Job
	for _, followed := range f.jobs {
		jobs = append(jobs, followed.Job.Job)
	}
	return jobs
}

// again prints Jobs that look different after their stalls were reread.
func (f *follower) again() error {
	cmdutil.NoteStalls(f.ErrOut, f.stalls.Gaps(), &f.noted)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.print(slices.SortedFunc(maps.Values(f.jobs), func(a, b *followedJob) int {
		return feed.CompareKeys(feed.KeyOf(a.Object), feed.KeyOf(b.Object))
	}))
}

// take prints the last row of each deleted Job, and then the Jobs that look different from their last row.
func (f *follower) take(updates []feed.Update) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var changed []*followedJob
	for i := range updates {
		u := &updates[i]
		if u.Gone != "" {
			if err := f.remove(u); err != nil {
				return err
			}
			continue
		}
		job, err := follow.NewJob(u.Job)
		if err != nil {
			return err
		}
		next := &followedJob{Job: job}
		if last := f.jobs[u.UID]; last != nil {
			next.signature = last.signature
		}
		f.jobs[u.UID] = next
		changed = append(changed, next)
	}
	return f.print(changed)
}

// print prints the Jobs that look different from their last row. With --problems, the first row of a Job is printed
// when it has a problem.
func (f *follower) print(jobs []*followedJob) error {
	var news []*unstructured.Unstructured
	for _, followed := range jobs {
		object, problem, err := f.mark(followed.Object, followed.Job.Job)
		if err != nil {
			return err
		}
		signature, err := f.printer.Signature(object)
		if err != nil {
			return err
		}
		if signature == followed.signature || f.problems && !problem && followed.signature == "" {
			continue
		}
		followed.signature = signature
		news = append(news, object)
	}
	if len(news) == 0 {
		return nil
	}
	return f.printer.Rows(news, false)
}

// remove prints the last row of a deleted Job; nothing if another Job replaces it.
func (f *follower) remove(u *feed.Update) error {
	last := f.jobs[u.UID]
	delete(f.jobs, u.UID)
	if u.Gone == feed.Replaced || f.problems && (last == nil || last.signature == "") {
		return nil
	}
	object := u.Job
	if object == nil {
		object = last.Object
	}
	return f.printer.Rows([]*unstructured.Unstructured{object}, true)
}
