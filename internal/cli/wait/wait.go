package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const waitLong = `Wait until Jobs complete or fail, no matter which controller runs them.

The Jobs are those you name, or those that -l matches when the command starts;
Jobs created later are ignored. When a Job finishes, a line on stdout reports
the result; progress goes to stderr. A Job whose outcome is decided while pods
are still terminating (FailureTarget, SuccessCriteriaMet) has not finished yet.

--for sets what to wait for, and when to give up:
  finished  (default) all Jobs have finished; exit code 3 if any has failed
  complete  all Jobs are complete; exit code 3 as soon as one has failed
  failed    all Jobs have failed; exit code 1 as soon as one is complete

It is an error (exit code 1) if a Job does not exist at the start, or is deleted
before it finishes, even if another Job of the same name replaces it. A lost
connection to the API server is not an error: the command resumes when it can.

--timeout=0 checks once. By default, or with a negative timeout, there is no
limit.

Exit codes:
  0    what was waited for has happened
  1    error
  2    wrong usage
  3    a Job has failed
  124  timeout
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)`

const waitExample = `  # Wait for a Job as long as it takes; exit code 3 if it fails
  kubectl batchjob wait train

  # Wait for two Jobs for at most an hour; give up as soon as one fails
  kubectl batchjob wait train job/evaluate --for=complete --timeout=1h

  # All Jobs of a team, in all namespaces
  kubectl batchjob wait -A -l team=ml

  # In a script: 0 if complete, 3 if failed, 124 if not finished yet
  kubectl batchjob wait train --timeout=0 --quiet`

// waitGoal is a value of --for.
type waitGoal string

const (
	goalFinished waitGoal = "finished"
	goalComplete waitGoal = "complete"
	goalFailed   waitGoal = "failed"
)

func waitGoals() []string {
	return []string{string(goalFinished), string(goalComplete), string(goalFailed)}
}

// progressPeriod is how often the line on a terminal ticks.
const progressPeriod = time.Second

// errWaitTimeout is the cause of a context that --timeout ended.
var errWaitTimeout = errors.New("timed out")

// Options are the flags of the wait verb, and what Complete makes of them.
type Options struct {
	cmdutil.Env
	kube *genericclioptions.ConfigFlags

	cmdutil.JobChoice
	goal    string
	timeout time.Duration
	limited bool // --timeout was given, and is not negative
	quiet   bool

	set feed.JobSet
	// explainer explains why a Job has failed. Without one, the reason is the reason and message of the Failed condition.
	explainer *cmdutil.Explainer
}

// NewCommand returns the command wait, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: cmdutil.NewKubeFlags()}
	cmd := &cobra.Command{
		Use:               "wait (NAME | job/NAME ... | -l SELECTOR)",
		Short:             "Wait until Jobs finish",
		Long:              waitLong,
		Example:           waitExample,
		ValidArgsFunction: cmdutil.CompleteJobs(o.kube, o.ExcludesNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.limited = cmd.Flags().Changed("timeout") && o.timeout >= 0
			if err := o.Validate(args); err != nil {
				return err
			}
			if err := o.Complete(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	o.AddChoice(flags, "Jobs in all namespaces; requires -l.")
	flags.StringVar(&o.goal, "for", string(goalFinished), "What to wait for. One of: ("+strings.Join(waitGoals(), ", ")+").")
	flags.DurationVar(&o.timeout, "timeout", 0, "How long to wait, e.g. 30s, 5m, 2h. 0 checks once; no limit by default or if negative.")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "Do not print progress to stderr; results are still printed.")
	o.kube.AddFlags(flags)
	cmdutil.MustCompleteFlag(cmd, "for", cmdutil.CompleteWords(waitGoals()...))
	cmdutil.CompleteKubeFlags(cmd, o.kube)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	if len(args) == 0 && o.Selector == "" {
		return cmdutil.UsageErrorf("name the Jobs to wait for, or select them with -l")
	}
	o.goal = strings.ToLower(strings.TrimPrefix(o.goal, "condition=")) // as kubectl wait has it
	switch waitGoal(o.goal) {
	case goalFinished, goalComplete, goalFailed:
		return nil
	}
	return cmdutil.UsageErrorf("--for=%s: must be one of: %s", o.goal, strings.Join(waitGoals(), ", "))
}

// Complete makes the names and the client.
func (o *Options) Complete(args []string) error {
	var err error
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	o.set, o.explainer, err = cmdutil.OpenJobs(o.kube, o.JobChoice, o.ErrOut, o.Env)
	return err
}

// verdict is why a Job has failed, nil if that cannot be read.
func (o *Options) verdict(ctx context.Context, job *unstructured.Unstructured) []string {
	if o.explainer == nil {
		return nil
	}
	report, err := o.explainer.Report(ctx, job)
	if err != nil {
		return nil
	}
	return []string{report.Verdict.WithReason()}
}

// Run waits. The timeout cancels; it is no deadline, because client-go gives up before a deadline that it foresees.
func (o *Options) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.limited && o.timeout > 0 {
		defer o.After(o.timeout, func() { cancel(errWaitTimeout) })()
	}
	progress := &waitProgress{
		out: o.ErrOut, width: func() int { return o.TerminalWidth(o.ErrOut) },
		namespaces: o.AllNamespaces, quiet: o.quiet, last: map[snapshot.JobKey]string{},
	}
	defer progress.close()
	link, stop := o.Connect(ctx, o.explainer.Client, progress)
	defer stop()
	progress.now = func() time.Time { return link.AsOf(o.Now()) }
	defer o.startTicking(progress)()
	w := &waiter{options: o, progress: progress, link: link, verdict: func(job *unstructured.Unstructured) []string { return o.verdict(ctx, job) }}
	err := w.run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errWaitTimeout) && !errors.Is(err, errOver) {
		err = w.timeoutError()
	}
	if errors.Is(err, errOver) {
		return w.result
	}
	return err
}

// startTicking draws the progress again every second, until the returned function is called.
func (o *Options) startTicking(progress *waitProgress) (stop func()) {
	if o.quiet || o.TerminalWidth(o.ErrOut) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for o.Timing().Pause(ctx, progressPeriod, nil) == nil {
			progress.tick()
		}
	})
	return func() {
		cancel()
		ticking.Wait()
	}
}

// label names a Job as kubectl does, with its namespace where that is not known.
func (o *Options) label(namespace, name string) string {
	if o.AllNamespaces {
		return fmt.Sprintf("job.batch/%s -n %s", name, namespace)
	}
	return "job.batch/" + name
}
