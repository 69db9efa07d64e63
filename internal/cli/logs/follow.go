package logs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// followLogs prints the logs of the Jobs as they are written: watches update a Follower with the pods of each Job,
// and with the end of the last Job.
func (o *Options) followLogs(ctx context.Context, out *output) error {
	link, stop := o.Connect(ctx, o.client, o.ErrOut)
	defer stop()
	o.options.Connect = func() logs.Connection { return link.Open() }
	follower := logs.NewFollower(o.options, out)
	watched, err := o.listFollowed(ctx, follower, cmdutil.Watch(link, o.ErrOut))
	if err != nil {
		return err
	}
	if len(watched) == 0 {
		follower.Finish()
		return follower.Run(ctx)
	}
	jobs := &followedJobs{o: o, follower: follower}
	watch := feed.Jobs{Watch: cmdutil.Watch(link, o.ErrOut), Set: o.set, OnUpdates: jobs.take}
	present, err := watch.First(ctx)
	if err != nil {
		return err
	}
	jobs.first(present)
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	for _, pods := range watched {
		pods.Watch.Connection = link.Open()
		running.Go(func() { cancel(pods.Run(ctx)) })
	}
	running.Go(func() { cancel(watch.Run(ctx)) })
	err = follower.Run(ctx)
	for _, pods := range watched {
		if err == nil {
			err = pods.ListLast(ctx, link.Open())
		}
	}
	if err == nil {
		err = follower.Run(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(err, jobs.deleted())
}

// listFollowed lists the pods of all Jobs. It returns the Pods of running Jobs, to be watched from that list on; for
// the other Jobs the lists are complete, because they were read after the Job had ended.
func (o *Options) listFollowed(ctx context.Context, follower *logs.Follower, watch feed.Watch) (watched []*logprinter.Pods, err error) {
	for _, j := range o.jobs {
		pods := &logprinter.Pods{PodSet: j.pods, Follower: follower, Watch: watch}
		if err := pods.List(ctx); err != nil {
			return nil, err
		}
		if j.end == "" {
			watched = append(watched, pods)
		}
	}
	return watched, nil
}

// followedJobs finishes the Follower when the last of the Jobs ends.
type followedJobs struct {
	o        *Options
	follower *logs.Follower

	mu sync.Mutex // guards the ends of the Jobs
}

// first records which Jobs are already gone.
func (f *followedJobs) first(present []*unstructured.Unstructured) {
	for _, j := range f.o.jobs {
		if j.end == "" && !slices.ContainsFunc(present, func(job *unstructured.Unstructured) bool { return job.GetUID() == j.UID }) {
			j.end = feed.Deleted
		}
	}
}

func (f *followedJobs) take(updates []feed.Update) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range updates {
		u := &updates[i]
		n := slices.IndexFunc(f.o.jobs, func(j *loggedJob) bool { return j.UID == u.UID })
		if n < 0 {
			continue
		}
		end := u.Gone
		if u.Job != nil {
			job, err := cmdutil.ToJob(u.Job)
			if err != nil {
				return err
			}
			end = feed.EndOf(job, u.Gone)
		}
		f.o.jobs[n].end = cmp.Or(f.o.jobs[n].end, end)
	}
	if !slices.ContainsFunc(f.o.jobs, func(j *loggedJob) bool { return j.end == "" }) {
		f.follower.Finish()
	}
	return nil
}

// deleted returns an error for each Job that was deleted before it finished.
func (f *followedJobs) deleted() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var failed []error
	for _, j := range f.o.jobs {
		if j.end == feed.Deleted || j.end == feed.Replaced {
			failed = append(failed, cmdutil.NewUserError(cmdutil.KindNotFound, nil, j.label()+" was deleted before it finished", ""))
		}
	}
	return errors.Join(failed...)
}
