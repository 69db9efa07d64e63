package logs

import (
	"context"
	"errors"
	"sync"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// followLogs prints the logs of the Jobs as they are written: watches update a Follower with the pods of each Job,
// and with the end of the last Job.
func (o *Options) followLogs(ctx context.Context, out *output) error {
	set, ctx, stop := follow.Start(ctx, follow.Options{
		Env: o.Env, Client: o.client, Words: follow.Words{Past: "finished", Selected: o.Selector != ""}, Quiet: true,
	})
	defer stop()
	o.options.Connect = func() logs.Connection { return set.Link.Open() }
	follower := logs.NewFollower(o.options, out)
	var watched []*logprinter.Pods
	var open []*follow.Job
	for _, j := range o.jobs {
		pods := &logprinter.Pods{PodSet: j.pods, Follower: follower, Watch: set.NewWatch()}
		if err := pods.List(ctx); err != nil {
			return err
		}
		if !reconcile.IsFinished(j.Job) { // Otherwise, the list is complete, because it was read after the Job had ended.
			watched, open = append(watched, pods), append(open, &follow.Job{Job: j.Job})
		}
	}
	if len(open) == 0 {
		follower.Finish()
		return follower.Run(ctx)
	}
	set.Add(open...)
	jobs := &feed.Jobs{Watch: cmdutil.Watch(set.Link, set), Set: o.set} // Its notice is not the one about pods.
	if _, err := jobs.First(ctx); err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer set.Cancel(nil)
	for _, pods := range watched {
		running.Go(func() { set.Cancel(pods.Run(ctx)) })
	}
	running.Go(func() {
		if err := set.Follow(ctx, jobs, open...); err != nil {
			set.Cancel(err)
		}
		follower.Finish()
	})
	err := follower.Run(ctx)
	for _, pods := range watched {
		if err == nil {
			err = pods.ListLast(ctx, set.Link.Open())
		}
	}
	if err == nil {
		err = follower.Run(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(err, set.Lost(set.Ends()))
}
