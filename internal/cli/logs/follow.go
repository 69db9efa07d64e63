package logs

import (
	"context"
	"sync"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// followLogs prints the logs of the Job as they are written: two watches keep a Follower up to date with the pods, and
// with whether there will be more of them.
func (o *Options) followLogs(ctx context.Context, out *logsOutput) error {
	link, stop := o.Connect(ctx, o.pods.Client, o.ErrOut)
	defer stop()
	o.options.Connect = func() logs.Connection { return link.Open() }
	follower := logs.NewFollower(o.options, out)
	pods := followedPods{PodSet: o.pods, follower: follower}
	version, err := pods.list(ctx)
	if err != nil {
		return err
	}
	if feed.EndOf(o.job, "") != "" {
		// The pods were listed after the Job was read: they are all there are.
		follower.Finish()
		return follower.Run(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel(nil)
	podWatch := cmdutil.Watch(link, o.ErrOut)
	podWatch.Collection, podWatch.Version = pods.Collection(pods.list, pods.take), version
	job := &followedJob{o: o, follower: follower}
	job.jobs = &feed.Jobs{Watch: cmdutil.Watch(link, o.ErrOut), Set: o.jobs, Each: job.take}
	watches.Go(func() { cancel(podWatch.Run(ctx)) })
	watches.Go(func() { cancel(job.jobs.Run(ctx)) })
	err = follower.Run(ctx)
	if err == nil {
		err = listLast(ctx, pods, link.Open())
	}
	if err == nil {
		err = follower.Run(ctx)
	}
	switch end := job.end(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && (end == feed.Deleted || end == feed.Replaced):
		return cmdutil.NewUserError(cmdutil.KindNotFound, nil, o.jobLabel()+" was deleted before it finished", "")
	}
	return err
}

// listLast looks for pods that the watch has not delivered when the Job is known to have finished.
func listLast(ctx context.Context, pods followedPods, connection *feed.Connection) error {
	defer connection.Connected()
	for {
		_, err := pods.list(ctx)
		if err == nil {
			return nil
		}
		if err := connection.Retry(ctx, err, nil); err != nil {
			return err
		}
	}
}

// followedJob ends the following of logs with the Job.
type followedJob struct {
	o        *Options
	jobs     *feed.Jobs
	follower *logs.Follower

	mu    sync.Mutex
	ended feed.End
}

func (j *followedJob) take(updates []feed.Update) error {
	end := feed.End("")
	if j.jobs.Len() == 0 {
		end = feed.Deleted
	}
	for i := range updates {
		u := &updates[i]
		switch {
		case u.UID != j.o.job.UID:
			end = feed.Replaced
		case u.Job != nil:
			job, err := cmdutil.ToJob(u.Job)
			if err != nil {
				return err
			}
			end = feed.EndOf(job, u.Gone)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended == "" && end != "" {
		j.ended = end
		j.follower.Finish()
	}
	return nil
}

func (j *followedJob) end() feed.End {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended
}
