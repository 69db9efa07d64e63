package cli

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
)

// followLogs prints the logs of the Job as they are written: two watches keep a Follower up to date with the pods, and
// with whether there will be more of them.
func (o *logsOptions) followLogs(ctx context.Context, out *logsOutput) error {
	notes := &linkNotes{out: o.ErrOut}
	o.options.Connect = func() logs.Connection { return logConnection{newLink(notes, o.env)} }
	follower := logs.NewFollower(o.options, out)
	pods := followedPods{logPods: o.pods, follower: follower}
	version, err := pods.list(ctx)
	if err != nil {
		return err
	}
	if analysis.FinishedAt(o.job) != nil {
		// The pods were listed after the Job was read: they are all there are.
		follower.Finish()
		return follower.Run(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel(nil)
	job := &followedJob{uid: o.job.UID, follower: follower}
	jobs := watchedJobs{set: jobSet{client: o.jobs, names: []string{o.name}}, sink: job}
	podLoop := watchLoop{target: pods, link: newLink(notes, o.env)}
	jobLoop := watchLoop{target: jobs, link: newLink(notes, o.env)}
	watches.Go(func() { cancel(podLoop.run(ctx, version)) })
	watches.Go(func() { cancel(jobLoop.run(ctx, "")) })
	err = follower.Run(ctx)
	if err == nil {
		err = listLast(ctx, pods, newLink(notes, o.env))
	}
	if err == nil {
		err = follower.Run(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && job.deleted.Load():
		return newUserError(kindNotFound, nil, o.jobLabel()+" was deleted before it had finished", "")
	}
	return err
}

// listLast looks for pods that the watch has not delivered when the Job is known to have finished.
func listLast(ctx context.Context, pods followedPods, link *link) error {
	for {
		_, err := pods.list(ctx)
		if err == nil {
			link.connected()
			return nil
		}
		if err := link.wait(ctx, err); err != nil {
			return err
		}
	}
}

// followedJob ends the following of logs with the Job.
type followedJob struct {
	uid      types.UID
	follower *logs.Follower
	finished bool        // of the goroutine that watches
	deleted  atomic.Bool // before it had finished
}

func (j *followedJob) reconcile(jobs []*unstructured.Unstructured) error {
	if len(jobs) == 0 {
		j.lose()
	}
	return j.changed(jobs...)
}

func (j *followedJob) changed(jobs ...*unstructured.Unstructured) error {
	for _, object := range jobs {
		if object.GetUID() != j.uid { // another one of this name
			j.lose()
			continue
		}
		job, err := toJob(object)
		if err != nil {
			return err
		}
		if analysis.FinishedAt(job) != nil {
			j.finished = true
			j.follower.Finish()
		}
	}
	return nil
}

func (j *followedJob) removed(*unstructured.Unstructured) error {
	j.lose()
	return nil
}

func (j *followedJob) lose() {
	j.deleted.Store(!j.finished)
	j.follower.Finish()
}
