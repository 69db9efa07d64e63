// Package wait implements the verb wait: it waits until Jobs have finished.
package wait

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

const waitLong = `Wait until Jobs complete or fail. Results go to stdout, progress to stderr.

--for is finished, complete, failed, delete, condition=NAME[=VALUE] or
jsonpath={PATH}[=VALUE]; it ends early if that cannot happen anymore.

Exit codes: 0 it happened, 1 error, 2 wrong usage, 3 a Job has failed,
4 stalled (--fail-if-stalled), 124 timeout, 130 Ctrl-C, 143 SIGTERM`

// waitDetails is text for the reference only.
const waitDetails = `The Jobs are those you name, or with -l or --all, those that exist when the
command starts; Jobs created later are ignored. A Job whose outcome is decided
while pods are still terminating (FailureTarget, SuccessCriteriaMet) has not
finished yet.

--for sets what to wait for, and when to give up:
  finished  (default) all Jobs have finished; exit code 3 if any has failed
  complete  all Jobs are complete; exit code 3 as soon as one has failed
  failed    all Jobs have failed; exit code 1 as soon as one is complete
  delete    all Jobs are deleted, or did not exist in the first place
  condition=NAME[=VALUE]
            the condition of all Jobs has this status, true by default
  jsonpath={PATH}[=VALUE]
            the field of all Jobs has this value, or any value without one
A Job that has finished does not get another status: with condition or a
jsonpath of .status, the exit code is 3 as soon as a Job has failed, and 1 as
soon as one is complete, unless it meets the condition.

Unless --for=delete is given, it is an error (exit code 1) if there are no Jobs,
if a Job does not exist at the start, or if one is deleted meanwhile, even if
another Job of the same name replaces it. A lost connection to the API server is
not an error: the command resumes when it can.

--timeout=0 checks once. By default, or with a negative timeout, there is no
limit. --fail-if-stalled gives up with exit code 4 once all Jobs left have been
stalled for so long, which it checks every 10 seconds; waiting in a queue, for
quota or for room does not count.
--fail-if-unscheduled gives up once they have had no node for so long for want
of room, quota or claims; waiting in a queue or behind a gate does not count.

-o json and -o yaml print a WaitResult of batchjob.dev/v1alpha1 at the end, and
the lines about results go to stderr.`

const waitExample = `  # Wait for a Job as long as it takes; exit code 3 if it fails
  kubectl batchjob wait train

  # Wait for two Jobs for at most an hour; give up as soon as one fails
  kubectl batchjob wait train job/evaluate --for=complete --timeout=1h

  # All Jobs of a team, in all namespaces
  kubectl batchjob wait -A -l team=ml

  # In a script: 0 if complete, 3 if failed, 124 if not finished yet
  kubectl batchjob wait train --timeout=0 --quiet`

// Options are the flags of the wait verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube *cmdutil.KubeFlags

	cmdutil.JobChoice
	all     bool
	goalArg string
	goal    *goal
	output  cmdutil.DocumentFlag
	timeout time.Duration
	limited bool // --timeout was given, and is not negative
	stalled follow.StallFlags
	quiet   bool

	set       feed.JobSet
	explainer *cmdutil.Explainer // explains why a Job has failed
}

// NewCommand returns the command wait, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	cmd := &cobra.Command{
		Use:               "wait (NAME | job/NAME ... | -l SELECTOR | --all)",
		Short:             "Wait until Jobs finish, or for a condition",
		Long:              waitLong,
		Example:           waitExample,
		Annotations:       cmdutil.Details(waitDetails),
		ValidArgsFunction: cmdutil.CompleteJobs(o.kube, func() bool { return o.all || o.ExcludesNames() }),
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
	o.AddChoice(flags, "Jobs in all namespaces; requires -l or --all.")
	flags.BoolVar(&o.all, "all", false, "All Jobs that exist when the command starts.")
	flags.StringVar(&o.goalArg, "for", goalFinished, "What to wait for, see above.\nOne of: ("+goalForms+").")
	flags.DurationVar(&o.timeout, "timeout", 0, "How long to wait, e.g. 30s, 5m; 0 checks once.\nThere is no limit by default or if it is negative.")
	o.stalled.AddTo(flags, 0)
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "Print only results, no progress.")
	o.output.AddPrintersTo(cmd)
	o.kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "for", completeGoal)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	switch {
	case len(args) > 0 && o.all:
		return cmdutil.UsageErrorf("name cannot be provided when --all is specified")
	case len(args) == 0 && o.Selector == "" && !o.all:
		return cmdutil.UsageErrorf("name the Jobs to wait for, select them with -l, or use --all")
	}
	if err := errors.Join(o.output.Validate(), o.stalled.Validate()); err != nil {
		return err
	}
	var err error
	o.goal, err = parseGoal(o.goalArg)
	return err
}

// Complete parses the names and creates the client.
func (o *Options) Complete(args []string) error {
	var err error
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	o.set, o.explainer, err = cmdutil.OpenJobs(o.kube, o.JobChoice, o.ErrOut, o.Env)
	return err
}

// Run waits.
func (o *Options) Run(ctx context.Context) error {
	w := &waiter{options: o}
	set, ctx, stop := follow.Start(ctx, follow.Options{
		Env: o.Env, Client: o.explainer.Client, Kube: o.kube,
		Words:   follow.Words{Past: o.goal.past, Namespaces: o.AllNamespaces, Selected: o.Selector != ""},
		Timeout: max(0, o.timeout), Stalled: o.stalled, NoteGaps: true, Explainer: o.explainer, Quiet: o.quiet,
		EndOf: o.goal.endOf, OnUpdate: w.onUpdate,
	})
	defer stop()
	w.Set = set
	return w.run(ctx)
}
