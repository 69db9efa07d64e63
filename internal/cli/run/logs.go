package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// tailLines is the number of last lines of a failed pod that are printed, and written to a report.
const (
	tailLines = 20
	// maxTailLine is the maximum length of a line in a report, in bytes.
	maxTailLine = 4096
)

// aside writes beside the progress line, which may be on the same terminal.
type aside struct {
	set *follow.Set
	out io.Writer
}

func (a aside) Write(text []byte) (n int, err error) { return a.set.WriteLines(a.out, text) }

// logOptions returns the options for the logs of all containers.
func (r *runner) logOptions(namespace string) logs.Options {
	return logs.Options{
		Selection: logs.Selection{AllContainers: true}, TailLines: -1, Concurrency: r.o.concurrency, Now: r.o.Now,
		Open:    cmdutil.OpenLog(r.o.explainer.Client, namespace),
		Connect: func() logs.Connection { return r.set.Link.Open() },
	}
}

func (r *runner) logOutput(ctx context.Context, follow bool) *logprinter.Output {
	out := logprinter.NewOutput(aside{r.set, r.o.Out}, r.set, logprinter.Style{
		Prefix: true, Color: r.o.color.Display(r.o.Env).Color, Follow: follow, Concurrency: r.o.concurrency,
		Jobs: len(r.tasks) > 1 || r.o.retries > 0,
	})
	out.IsSimulated = cmdutil.SimulatedNodes(ctx, r.o.explainer.Client)
	return out
}

// followedLogs prints the logs of a namespace.
type followedLogs struct {
	*logs.Follower
	out *logprinter.Output
}

// addFollowers adds a Follower for each namespace.
func (r *runner) addFollowers(ctx context.Context) {
	for _, t := range r.tasks {
		namespace := t.last().job.Namespace
		if r.followers[namespace] == nil {
			out := r.logOutput(ctx, true)
			r.followers[namespace] = &followedLogs{logs.NewFollower(r.logOptions(namespace), out), out}
		}
	}
}

// printLogs prints logs until they end. Without the permission to read them, the Jobs are still followed.
func (r *runner) printLogs(ctx context.Context, follower *followedLogs) {
	defer func() { _ = follower.out.ReportUnread() }() // It is not an error: the result depends only on the Jobs.
	if err := follower.Run(ctx); err != nil && !r.isRefusal(ctx, err) {
		r.set.Cancel(err)
	}
}

// followPods follows the logs of a Job. The returned function is to be called after the Job has ended; it looks for
// pods that the watch has not delivered.
func (r *runner) followPods(ctx context.Context, a *attempt) (last func(context.Context)) {
	follower := r.followers[a.job.Namespace]
	if follower == nil {
		return func(context.Context) {}
	}
	set := feed.PodSet{Client: r.o.explainer.Client, Job: a.job.Job}
	pods := &logprinter.Pods{PodSet: set, Follower: follower.Follower, Watch: r.set.NewWatch()}
	if err := pods.List(ctx); err != nil && r.isRefusal(ctx, err) {
		return func(context.Context) {}
	}
	r.watching.Go(func() { r.isRefusal(ctx, pods.Run(ctx)) })
	return func(ctx context.Context) { r.isRefusal(ctx, pods.ListLast(ctx, r.set.Link.Open())) }
}

// isRefusal reports whether pods or logs may not be read, and prints that once.
func (r *runner) isRefusal(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	switch cmdutil.KindOf(cmdutil.ExplainError(err)) {
	case cmdutil.KindForbidden, cmdutil.KindCredentials:
		r.unread.Do(func() { r.note("No logs are printed: " + cmdutil.ErrorLine(err)) })
		return true
	}
	return false
}

// printTails prints the last lines of the failed pods of a Job.
func (r *runner) printTails(ctx context.Context, a *attempt) error {
	out := r.logOutput(ctx, false)
	err := r.readTails(ctx, a, out)
	_ = out.ReportUnread() // It is not an error: the result depends only on the Jobs.
	if err != nil && r.isRefusal(ctx, err) {
		err = nil
	}
	return errors.Join(err, out.Flush())
}

// readTails reads the last lines of the failed pods of a Job.
func (r *runner) readTails(ctx context.Context, a *attempt, out logs.Output) error {
	pods, _, err := logprinter.List(ctx, feed.PodSet{Client: r.o.explainer.Client, Job: a.job.Job})
	if err != nil {
		return err
	}
	options := r.logOptions(a.job.Namespace)
	options.Failed, options.TailLines = true, tailLines
	return logs.Read(ctx, pods, options, out)
}

// tails keeps the termination messages and the last lines of each pod.
type tails map[string][]string

func (t tails) OnListing(listing logs.Listing) error {
	for _, pod := range listing.Pods {
		for i := range pod.Containers {
			if c := &pod.Containers[i]; c.Failed && c.Message != "" {
				t.add(pod.Name, fmt.Sprintf("Termination message of container %s: %s", c.Name, c.Message))
			}
		}
	}
	return nil
}

func (t tails) OnLine(source logs.Source, line logs.Line) error {
	t.add(source.Pod.Name, string(line.Text))
	return nil
}

func (t tails) add(pod, line string) {
	t[pod] = append(t[pod], sanitize.Text(line[:min(len(line), maxTailLine)]))
}

func (t tails) OnInterrupted(logs.Source, error) {}

func (t tails) OnUnreadable(failure *logs.UnreadableError) {
	name := failure.Source.Pod.Name
	t[name] = append(t[name], "The log cannot be read: "+cmdutil.LogErrorLine(failure.Source.Pod.Node, failure.Err))
}
