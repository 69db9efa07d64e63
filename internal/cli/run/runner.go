package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

var (
	errOver    = errors.New("the Job has ended")
	errTimeout = errors.New("timed out")
	errStalled = errors.New("stalled")
)

// runner follows the Jobs until all have ended.
type runner struct {
	o         *Options
	report    *junit.File // nil for none
	several   bool        // the Jobs are in several namespaces
	progress  *follow.Progress
	link      *feed.Link
	watch     feed.Watch                   // template that is copied for each watch
	followers map[string]*followedLogs     // by namespace; empty unless all logs are printed
	unread    sync.Once                    // for the notice that logs cannot be read
	watching  sync.WaitGroup               // for the goroutines that watch pods
	stalls    map[types.UID]*explain.Stall // set before errStalled ends the run

	mu    sync.Mutex
	tasks []*task
}

func newRunner(o *Options, tasks []*task, report *junit.File) *runner {
	r := &runner{o: o, tasks: tasks, report: report, followers: map[string]*followedLogs{}}
	for _, t := range tasks {
		r.several = r.several || t.last().job.Namespace != tasks[0].last().job.Namespace
	}
	return r
}

// run follows the Jobs, and then calls finish. The timeout cancels the context instead of setting a deadline, because
// client-go fails early if it expects to exceed one.
func (r *runner) run(ctx context.Context) error {
	o := r.o
	following, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.timeout > 0 {
		defer o.After(o.timeout, func() { cancel(errTimeout) })()
	}
	r.progress = follow.New(o.Env, follow.Options{
		Past: "finished", Namespaces: r.several, Quiet: o.quiet, Bar: true, ASCII: o.color.Display(o.Env).ASCII, Why: r.why,
	})
	defer r.progress.Close()
	link, stop := o.Connect(following, o.explainer.Client, r.progress)
	defer stop()
	defer r.progress.Start(link)()
	r.link, r.watch = link, cmdutil.Watch(link, r.progress)
	defer r.followStalls(following, cancel)()
	return r.finish(ctx, r.follow(following, cancel))
}

// followStalls cancels following once all unfinished Jobs have been stalled for too long.
func (r *runner) followStalls(following context.Context, cancel context.CancelCauseFunc) (stop func()) {
	o, namespaces := r.o, sets.New[string]()
	for _, t := range r.tasks {
		namespaces.Insert(t.last().job.Namespace)
	}
	var stalls []*feed.Stalls
	for _, namespace := range sets.List(namespaces) {
		stalls = append(stalls, o.explainer.Stalls(namespace, o.Timing()))
	}
	return r.progress.FollowStalls(following, stalls, r.open(), follow.StallLimit{
		After: o.stalled.After, Notes: o.stalledSet, Look: o.explainer.Stall,
		Exceeded: func(found map[types.UID]*explain.Stall) {
			r.stalls = found
			cancel(errStalled)
		},
	})
}

// why returns the command that explains a Job.
func (r *runner) why(job *batchv1.Job) string {
	return cmdutil.WhyCommand(r.o.kube, job.Namespace, job.Name)
}

// follow returns nil when all Jobs have ended and their logs are printed, or else the reason why it stopped.
func (r *runner) follow(ctx context.Context, cancel context.CancelCauseFunc) error {
	var reading, running sync.WaitGroup
	if r.o.logs == logsAll {
		r.addFollowers(ctx)
	}
	for _, follower := range r.followers {
		reading.Go(func() { r.printLogs(ctx, follower, cancel) })
	}
	watching, stopWatching := context.WithCancel(ctx)
	for _, t := range r.tasks {
		running.Go(func() {
			if err := r.followTask(ctx, watching, t); err != nil {
				cancel(err)
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
	if cause := context.Cause(ctx); !errors.Is(cause, errTimeout) && !errors.Is(cause, errStalled) || len(r.open()) > 0 {
		return cause // nil if all Jobs have ended
	}
	return nil
}

// followTask follows a Job and its retries. watching is the context for their pods.
func (r *runner) followTask(ctx, watching context.Context, t *task) error {
	for {
		a := t.last()
		lastPods := r.followPods(watching, a)
		if err := r.followJob(ctx, a); err != nil {
			return err
		}
		lastPods(ctx)
		if a.end == reconcile.OutcomeFailed {
			a.report = r.explain(ctx, a)
		}
		if !a.isLost() {
			r.note(r.endLine(a))
		}
		if a.end != reconcile.OutcomeFailed || len(t.attempts) > r.o.retries {
			return nil
		}
		if err := r.retry(ctx, t); err != nil {
			if ctx.Err() == nil {
				r.note(fmt.Sprintf("Cannot retry %s: %s", r.label(a), withoutHint(err)))
			}
			return ctx.Err()
		}
	}
}

// followJob returns when the Job has ended.
func (r *runner) followJob(ctx context.Context, a *attempt) error {
	listed := false
	jobs := feed.Jobs{Watch: r.watch, Set: r.o.setOf(a), OnUpdates: func(updates []feed.Update) error {
		err := r.take(a, updates, !listed)
		listed = true
		return err
	}}
	jobs.Connection = r.link.Open()
	if err := jobs.Run(ctx); !errors.Is(err, errOver) {
		return err
	}
	return nil
}

// take applies updates of a Job; all is set if they are the complete first list.
func (r *runner) take(a *attempt, updates []feed.Update, all bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := false
	for i := range updates {
		own, err := a.take(&updates[i])
		if err != nil {
			return err
		}
		found = found || own
	}
	if all && !found {
		a.end = feed.Deleted
	}
	r.show(a)
	if a.end != "" {
		return errOver
	}
	return nil
}

// show updates the progress after a change of one Job. The caller holds r.mu.
func (r *runner) show(changed *attempt) {
	news := follow.News{Total: len(r.tasks)}
	for _, t := range r.tasks {
		switch a := t.last(); a.end {
		case "":
			news.Open = append(news.Open, a.job)
		case reconcile.OutcomeFailed:
			news.Failed++
		}
	}
	news.Ended = news.Total - len(news.Open)
	if changed.end == "" {
		news.Changed = []*batchv1.Job{changed.job}
	}
	r.progress.Show(news)
}

// open returns the unfinished Jobs.
func (r *runner) open() (open []*batchv1.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tasks {
		if t.last().end == "" {
			open = append(open, t.last().job)
		}
	}
	return open
}

// explain returns nil if the Job cannot be explained.
func (r *runner) explain(ctx context.Context, a *attempt) *explain.Report {
	report, err := r.o.explainer.Report(ctx, a.object)
	if err != nil {
		return nil
	}
	return &report
}

// retry adds an attempt that runs what the last one has not completed. It retries until an API outage is over.
func (r *runner) retry(ctx context.Context, t *task) error {
	a := t.last()
	client, err := rerun.New(r.o.kube, rerun.Options{
		FieldManager: r.o.manifests.FieldManager, Namespace: a.job.Namespace, Out: r.progress,
	})
	if err != nil {
		return err
	}
	connection := r.link.Open()
	defer connection.Connected()
	var sent *retry.Retry
	for {
		sent, err = r.createRetry(ctx, client, t, sent)
		if isOutage(err) {
			if err = connection.Retry(ctx, err, nil); err == nil {
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

// isOutage reports whether the API server did not answer, or the server or a proxy is temporarily unavailable.
func isOutage(err error) bool {
	return slices.ContainsFunc(cmdutil.Flatten(err), func(err error) bool {
		if _, explained := errors.AsType[*cmdutil.UserError](err); !explained {
			if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
				code := answer.Status().Code
				return code == http.StatusTooManyRequests || code > http.StatusInternalServerError || apierrors.IsServerTimeout(err)
			}
		}
		return cmdutil.KindOf(cmdutil.ExplainError(err)) == cmdutil.KindUnreachable
	})
}

// createRetry adds an attempt, and returns the plan that it sent last. If the request got no response, the Job may
// already exist or may still be created.
func (r *runner) createRetry(ctx context.Context, client *rerun.Client, t *task, sent *retry.Retry) (*retry.Retry, error) {
	if sent != nil {
		if made, err := client.Stored(ctx, sent); err != nil || made != nil {
			return sent, r.addRetry(t, sent, made, err)
		}
	}
	plan, made, err := r.sendRetry(ctx, client, t, sent)
	if plan == nil {
		plan = sent
	}
	if err != nil && plan != nil && !isOutage(err) {
		if stored, _ := client.Stored(ctx, plan); stored != nil {
			made, err = stored, nil
		}
	}
	return plan, r.addRetry(t, plan, made, err)
}

// sendRetry creates a Job that runs the missing indexes or completions. It returns the plan if it was sent. before is
// the plan sent before, whose Job may be stored only now: both plans have the same ID, so either Job is found.
func (r *runner) sendRetry(ctx context.Context, client *rerun.Client, t *task, before *retry.Retry) (*retry.Retry, *unstructured.Unstructured, error) {
	found, err := client.Find(ctx, rerun.Target{Name: t.last().job.Name})
	if err != nil {
		return nil, nil, err
	}
	plan, err := client.Plan(ctx, found, retry.Request{})
	if err != nil {
		return nil, nil, err
	}
	rerun.Mark(plan, before)
	// Finish the request despite Ctrl-C, so that --on-cancel applies to the new Job, too.
	sending, cancel := r.o.linger(ctx)
	defer cancel()
	made, err := client.Create(sending, found, plan)
	return plan, made, err
}

// addRetry adds the Job that was created from the plan, unless err is set.
func (r *runner) addRetry(t *task, plan *retry.Retry, made *unstructured.Unstructured, err error) error {
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
	r.note(fmt.Sprintf("%s created (retry %d of %d). %s", r.label(a), len(t.attempts), r.o.retries, rerun.RunsText(plan)))
	r.mu.Lock()
	defer r.mu.Unlock()
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
func (r *runner) note(line string) { fmt.Fprintln(r.progress, sanitize.Line(line)) }
