package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// runner follows the Jobs until all have ended.
type runner struct {
	o         *Options
	tasks     []*task
	report    *junit.File // nil for none
	set       *follow.Set
	followers map[string]*followedLogs // by namespace; empty unless all logs are printed
	unread    sync.Once                // for the notice that logs cannot be read
	watching  sync.WaitGroup           // for the goroutines that watch pods
}

// run follows the Jobs of the tasks, and then calls finish.
func (o *Options) run(ctx context.Context, tasks []*task, report *junit.File) error {
	r := &runner{o: o, tasks: tasks, report: report, followers: map[string]*followedLogs{}}
	namespaces := sets.New[string]()
	for _, t := range tasks {
		namespaces.Insert(t.last().job.Namespace)
	}
	var following context.Context
	var stop func()
	r.set, following, stop = follow.Start(ctx, follow.Options{
		Env: o.Env, Client: o.explainer.Client, Kube: o.kube,
		Words:   follow.Words{Past: "finished", Namespaces: len(namespaces) > 1},
		Timeout: o.timeout, Stalled: o.stalled, NoteGaps: o.stalledSet, Explainer: o.explainer,
		Quiet: o.quiet, Bar: true, ASCII: o.color.Display(o.Env).ASCII,
	})
	defer stop()
	for _, t := range tasks {
		r.set.Add(t.last().job)
	}
	defer r.set.FollowStalls(following, sets.List(namespaces)...)()
	return r.finish(ctx, r.follow(following))
}

// follow returns nil when all Jobs have ended and their logs are printed, or else the reason why it stopped.
func (r *runner) follow(ctx context.Context) error {
	var reading, running sync.WaitGroup
	if r.o.logs == logsAll {
		r.addFollowers(ctx)
	}
	for _, follower := range r.followers {
		reading.Go(func() { r.printLogs(ctx, follower) })
	}
	watching, stopWatching := context.WithCancel(ctx)
	for _, t := range r.tasks {
		running.Go(func() {
			if err := r.followTask(ctx, watching, t); err != nil {
				r.set.Cancel(err)
			}
		})
	}
	running.Wait()
	for _, follower := range r.followers {
		follower.Finish()
	}
	reading.Wait()
	stopWatching()
	r.watching.Wait()
	return r.set.Cause(ctx, context.Cause(ctx))
}

// followTask follows a Job and its retries. watching is the context for their pods.
func (r *runner) followTask(ctx, watching context.Context, t *task) error {
	for {
		a := t.last()
		r.set.ExpectRetry(a.job, r.mayRetry(t))
		lastPods := r.followPods(watching, a)
		if err := r.set.Follow(ctx, &feed.Jobs{Watch: r.set.NewWatch(), Set: r.o.setOf(a)}, a.job); err != nil {
			return err
		}
		lastPods(ctx)
		if a.job.End == reconcile.OutcomeFailed {
			r.explain(ctx, a)
		}
		if !a.job.IsLost() {
			r.note(r.set.EndLine(a.job))
		}
		if a.job.End != reconcile.OutcomeFailed || !r.mayRetry(t) {
			return nil
		}
		if err := r.retry(ctx, t); err != nil {
			r.set.ExpectRetry(a.job, false)
			if ctx.Err() == nil && !errors.Is(err, errNoRetryLeft) {
				r.note(fmt.Sprintf("Cannot retry %s: %s", r.label(a), withoutHint(err)))
			}
			return ctx.Err()
		}
	}
}

// explain reads the report on a Job. On an error, the attempt keeps no report.
func (r *runner) explain(ctx context.Context, a *attempt) {
	if report, err := r.set.Report(ctx, a.job); err == nil {
		a.report, a.job.Verdict = &report, report.Verdict
	}
}

// retry adds an attempt that runs what the last one has not completed. It retries until an API outage is over.
func (r *runner) retry(ctx context.Context, t *task) error {
	a := t.last()
	client, err := rerun.New(r.o.kube, rerun.Options{
		FieldManager: r.o.manifests.FieldManager, Namespace: a.job.Namespace, Out: r.set, Now: r.o.Now,
	})
	if err != nil {
		return err
	}
	connection := r.set.Link.Open()
	defer connection.Connected()
	var sent *retry.Plan
	for {
		sent, err = r.createRetry(ctx, client, t, sent)
		if cmdutil.IsOutage(err) {
			if err = connection.AwaitRetry(ctx, err, nil); err == nil {
				continue
			}
		}
		if err != nil && ctx.Err() != nil && sent != nil {
			name := sanitize.Line(sent.Object.GetName())
			r.note(fmt.Sprintf("job.batch/%s may have been created; see whether it was with: kubectl get job %s -n %s", name, name, a.job.Namespace))
		}
		return err
	}
}

// createRetry adds an attempt, and returns the plan that it sent last. If the request got no response, the Job may
// already exist or may still be created.
func (r *runner) createRetry(ctx context.Context, client *rerun.Client, t *task, sent *retry.Plan) (*retry.Plan, error) {
	if sent != nil {
		if made, err := client.Stored(ctx, sent); err != nil || made != nil {
			return sent, r.addRetry(t, sent, made, err)
		}
	}
	plan, made, err := r.sendRetry(ctx, client, t, sent)
	if plan == nil {
		plan = sent
	}
	if made == nil && plan != nil && !cmdutil.IsOutage(err) {
		made, _ = client.Stored(ctx, plan)
	}
	if made != nil { // A Job that runs is followed, or canceled, even if its creation was interrupted.
		err = nil
	}
	return plan, r.addRetry(t, plan, made, err)
}

// sendRetry creates a Job that runs the missing indexes or completions. It returns the plan if it was sent. before is
// the plan sent before, whose Job may be stored only now: both plans have the same ID, so either Job is found.
func (r *runner) sendRetry(ctx context.Context, client *rerun.Client, t *task, before *retry.Plan) (*retry.Plan, *unstructured.Unstructured, error) {
	found, err := client.Find(ctx, rerun.Target{Name: t.last().job.Name})
	if err != nil {
		return nil, nil, err
	}
	if err := r.raiseMemory(ctx, client, t, found); err != nil {
		return nil, nil, err
	}
	plan, err := client.Plan(ctx, found, retry.Request{})
	if err != nil {
		return nil, nil, err
	}
	rerun.Mark(plan, before)
	// Finish the request despite Ctrl-C, so that --on-cancel applies to the new Job, too.
	sending, cancel := interrupt.Linger(ctx, cleanupTime, r.o.After)
	defer cancel()
	made, err := client.Create(sending, found, plan)
	return plan, made, err
}

// addRetry adds the Job that was created from the plan, unless err is set.
func (r *runner) addRetry(t *task, plan *retry.Plan, made *unstructured.Unstructured, err error) error {
	if err != nil {
		return err
	}
	a, err := newAttempt(made)
	if err != nil {
		return err
	}
	for _, dropped := range plan.Dropped {
		r.note("warning: " + rerun.DroppedText(dropped))
	}
	n, why := len(t.attempts)-t.raises, ""
	if t.raised != nil {
		t.raises++
		n, why = t.raises, " with more memory"
	}
	r.note(fmt.Sprintf("%s created (retry %d of %d%s). %s", r.label(a), n, r.o.retries, why, rerun.RunsText(plan)))
	for _, line := range slices.Concat(t.raised.Warnings(), t.raised.Lines()) {
		r.note(line)
	}
	r.set.Replace(t.last().job, a.job)
	t.attempts = append(t.attempts, a)
	return nil
}

// withoutHint returns the error without its hint, which may be about flags of retry.
func withoutHint(err error) string {
	var all []string
	for _, err := range cmdutil.Flatten(err) {
		what := err.Error()
		if known, is := errors.AsType[*cmdutil.UserError](cmdutil.ExplainError(err)); is {
			what = known.What
		}
		all = append(all, what)
	}
	return strings.Join(all, "; ")
}

// note writes a line to stderr.
func (r *runner) note(line string) { fmt.Fprintln(r.set, sanitize.Line(line)) }

func (r *runner) label(a *attempt) string { return r.set.Label(a.job.Namespace, a.job.Name) }
