package logs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// followLogs prints the logs of the Jobs as they are written: watches keep a Follower up to date with the pods of each,
// and with whether there will be more of them.
func (o *Options) followLogs(ctx context.Context, out *logsOutput) error {
	link, stop := o.Connect(ctx, o.client, o.ErrOut)
	defer stop()
	o.options.Connect = func() logs.Connection { return link.Open() }
	follower := logs.NewFollower(o.options, out)
	jobs := &followedJobs{follower: follower, running: map[types.UID]*loggedJob{}}
	watches, err := o.listFollowed(ctx, follower, jobs, cmdutil.Watch(link, o.ErrOut))
	if err != nil {
		return err
	}
	if len(jobs.running) == 0 {
		follower.Finish()
		return follower.Run(ctx)
	}
	jobs.jobs = &feed.Jobs{Watch: cmdutil.Watch(link, o.ErrOut), Set: jobs.set(o.set), Each: jobs.take}
	if err := jobs.first(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	for _, pods := range watches {
		pods.watch.Connection = link.Open()
		running.Go(func() { cancel(pods.watch.Run(ctx)) })
	}
	running.Go(func() { cancel(jobs.jobs.Run(ctx)) })
	err = follower.Run(ctx)
	for _, pods := range watches {
		if err == nil {
			err = listLast(ctx, pods, link.Open())
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

// listFollowed lists the pods of all Jobs, and returns those of the Jobs that run, which have to be watched from there.
func (o *Options) listFollowed(ctx context.Context, follower *logs.Follower, jobs *followedJobs, watch feed.Watch) (watched []followedPods, err error) {
	for _, j := range o.jobs {
		pods := followedPods{PodSet: j.pods, follower: follower}
		version, err := pods.list(ctx)
		if err != nil {
			return nil, err
		}
		if feed.EndOf(j.Job, "") != "" {
			continue // The pods were listed after the Job was read: they are all there are.
		}
		pods.watch = watch
		pods.watch.Collection, pods.watch.Version = pods.Collection(pods.list, pods.take), version
		watched = append(watched, pods)
		jobs.running[j.UID] = j
	}
	return watched, nil
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

// followedJobs ends the following of logs with the last of the Jobs.
type followedJobs struct {
	jobs     *feed.Jobs
	follower *logs.Follower

	mu      sync.Mutex
	running map[types.UID]*loggedJob
	gone    []*loggedJob // before they had finished
}

// set is the Jobs that run at the start, and no others that the selector may match.
func (j *followedJobs) set(all feed.JobSet) feed.JobSet {
	all.Names = nil
	for _, job := range j.running {
		all.Names = append(all.Names, job.Name)
	}
	return all
}

// first notes which Jobs are gone already.
func (j *followedJobs) first(ctx context.Context) error {
	present, err := j.jobs.First(ctx)
	for uid := range j.running {
		if err == nil && !slices.ContainsFunc(present, func(job *unstructured.Unstructured) bool { return job.GetUID() == uid }) {
			j.end(uid, feed.Deleted)
		}
	}
	return err
}

func (j *followedJobs) take(updates []feed.Update) error {
	for i := range updates {
		u := &updates[i]
		end := u.Gone
		if u.Job != nil {
			job, err := cmdutil.ToJob(u.Job)
			if err != nil {
				return err
			}
			end = feed.EndOf(job, u.Gone)
		}
		if end != "" {
			j.end(u.UID, end)
		}
	}
	return nil
}

func (j *followedJobs) end(uid types.UID, end feed.End) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := j.running[uid]
	if job == nil {
		return
	}
	delete(j.running, uid)
	if end == feed.Deleted || end == feed.Replaced {
		j.gone = append(j.gone, job)
	}
	if len(j.running) == 0 {
		j.follower.Finish()
	}
}

// deleted is an error for each Job that was deleted before it finished.
func (j *followedJobs) deleted() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var failed []error
	for _, job := range j.gone {
		failed = append(failed, cmdutil.NewUserError(cmdutil.KindNotFound, nil, job.label()+" was deleted before it finished", ""))
	}
	return errors.Join(failed...)
}
