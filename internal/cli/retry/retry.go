// Package retry implements the verb retry: it reruns what a finished Job did not complete.
package retry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const retryLong = `Rerun what a finished Job did not complete, in a copy that the flags change.`

// retryDetails is text for the reference only.
const retryDetails = `The copy is a new Job NAME-retry-N. It runs indexes with their numbers, or
missing completions. It works with every controller.

The exit code is 0 if the Job was created, and complete with --wait; 1 for an
error, 2 for wrong usage, 130 after Ctrl-C, and 143 after SIGTERM. With --wait,
it is 3 if the Job fails, and 124 after --timeout.

--cause runs the indexes whose last failure had a cause, as why prints it. With
--memory, the containers that were OOMKilled get more memory than they had: a
factor or an amount, up to max=, or 8 times the limit of the first Job. Requests
rise in the same ratio. A message or a log that says that memory ran out counts
with --include-probable; exit code 137 alone does not.

With --in-place, a Job that has not finished keeps its name and what it has
completed: it is suspended, its pods end, and it is resumed with more memory.
This needs Kubernetes 1.36. If the command is interrupted, the Job stays
suspended, status explains that, and the next --in-place continues.

--indexes selects indexes; --failed-only leaves out indexes that never ran.
Retries know the first Job: what one of them has completed does not run again.
cronjob/NAME retries the last failed Job of a CronJob.

--replace is for a Job that has not finished: it is deleted with its pods once
the new Job exists. Its pods may run for their grace period beside the new ones.

The copy is created suspended, its status is written so that all other indexes
count as completed, and then it is resumed. This needs the permission to patch
jobs/status. Without it, --by-annotation has the controller of this program run
only the chosen indexes. It is refused unless that controller runs the Job:
others would run all indexes.

If the command fails or is interrupted, it leaves nothing behind, or says what
it left: a Job that runs, or one that is suspended, which the next retry
removes. The message of exit code 1 names any Job that was, or may have been,
created.`

const retryExample = `  # Rerun what is missing
  kubectl batchjob retry sweep

  # Rerun what ran out of memory with twice as much, and wait for the result
  kubectl batchjob retry sweep --cause OOMKilled --memory x2,max=32Gi --wait

  # Replace a Job whose image cannot be pulled
  kubectl batchjob retry train --replace --image registry.example.com/train:v2`

// Options are the flags of the retry verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube    *cmdutil.KubeFlags
	print   cmdutil.CreationFlags
	changes changes
	byCause byCause

	indexes      string
	fieldManager string
	wait, watch  bool
	timeout      time.Duration

	target  rerun.Target
	request retry.Request
	client  *rerun.Client
}

// NewCommand returns the command retry, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	cmd := &cobra.Command{
		Use:               "retry (NAME | job/NAME | cronjob/NAME)",
		SuggestFor:        []string{"rerun", "restart"},
		Short:             "Rerun what a finished Job did not complete",
		Long:              retryLong,
		Example:           retryExample,
		Annotations:       cmdutil.Details(retryDetails),
		ValidArgsFunction: cmdutil.CompleteJob(o.kube),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(cmd.Flags(), args); err != nil {
				return err
			}
			if err := o.Complete(); err != nil {
				return err
			}
			made, err := o.Run(cmd.Context())
			if err != nil || made == "" {
				return err
			}
			return o.follow(cmd, made)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.indexes, "indexes", "", "Indexes to run, e.g. 3,7-9, completed or not.")
	flags.BoolVar(&o.request.FailedOnly, "failed-only", false, "Leave out indexes that never ran.")
	flags.StringVar(&o.request.Name, "name", "", "Name of the new Job.\nBy default, that of the old one with a suffix.")
	flags.BoolVar(&o.request.ByAnnotation, "by-annotation", false, "Name the indexes in an annotation instead.\nOnly the controller of this program reads it.")
	flags.BoolVar(&o.request.Replace, "replace", false, "Replace a Job that has not finished.")
	o.changes.addTo(cmd)
	o.byCause.addTo(flags)
	flags.StringVar(&o.fieldManager, "field-manager", "kubectl-batchjob", "Name of the field manager, for metadata.managedFields.")
	flags.BoolVar(&o.wait, "wait", false, "Wait for the new Job, as the verb wait does.")
	flags.BoolVar(&o.watch, "watch", false, "Watch the new Job, as the verb watch does.")
	flags.DurationVar(&o.timeout, "timeout", 0, "How long to --wait, e.g. 30s, 5m, 2h.\nThere is no limit by default.")
	o.print.AddTo(cmd)
	o.kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "container", cmdutil.CompleteContainers(o.kube))
	cmdutil.MustCompleteFlag(cmd, "cause", rerun.CompleteCauses(o.kube, o.Env))
	cmdutil.MustCompleteFlag(cmd, "indexes", cmdutil.CompleteIndexes(o.kube, true))
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(flags *pflag.FlagSet, args []string) error {
	if err := o.validateTarget(args); err != nil {
		return err
	}
	if err := o.print.Validate(); err != nil {
		return err
	}
	if flags.Changed("indexes") {
		indexes, err := indexset.Parse(o.indexes)
		if err != nil {
			return cmdutil.UsageErrorf("--indexes=%s: %v; use numbers and ranges such as 3,7-9", o.indexes, err)
		}
		o.request.Indexes = &indexes
	}
	switch {
	case o.request.FailedOnly && o.request.Indexes != nil:
		return cmdutil.UsageErrorf("--failed-only and --indexes exclude each other")
	case o.wait && o.watch:
		return cmdutil.UsageErrorf("--wait and --watch exclude each other")
	case (o.wait || o.watch) && o.print.DryRun != cmdutil.DryRunNone:
		return cmdutil.UsageErrorf("a dry run creates nothing to wait for; leave out --wait and --watch")
	case flags.Changed("timeout") && !o.wait:
		return cmdutil.UsageErrorf("--timeout is for --wait")
	}
	if err := o.changes.validate(flags); err != nil {
		return err
	}
	return o.byCause.validate(flags, &o.changes, &o.request)
}

func (o *Options) validateTarget(args []string) error {
	var targets []rerun.Target
	rest, err := cmdutil.SplitKinds(args, cmdutil.CronJobKinds(), func(_, name string) { targets = append(targets, rerun.Target{Name: name, CronJob: true}) })
	if err != nil {
		return err
	}
	names, err := cmdutil.ParseJobArgs(rest)
	if err != nil {
		return err
	}
	for _, name := range names {
		targets = append(targets, rerun.Target{Name: name})
	}
	if len(targets) != 1 {
		return cmdutil.UsageErrorf("name one Job or CronJob to retry")
	}
	o.target = targets[0]
	o.target.NewName = o.request.Name
	return nil
}

// Complete reads the patch file and creates the client.
func (o *Options) Complete() error {
	err := o.changes.read(o.In)
	if err != nil {
		return err
	}
	o.LimitGarbage(cmdutil.GCPercent)
	o.client, err = rerun.New(o.kube, rerun.Options{FieldManager: o.fieldManager, DryRun: o.print.DryRun == cmdutil.DryRunServer, Out: o.ErrOut, Now: o.Now})
	return err
}

// Run creates the retry, and returns its name; "" after a dry run.
func (o *Options) Run(ctx context.Context) (string, error) {
	found, err := o.client.Find(ctx, o.target)
	if err != nil {
		return "", err
	}
	if o.byCause.inPlace {
		return o.runInPlace(ctx, found)
	}
	chosen, err := o.byCause.choose(ctx, o.client, found, &o.request)
	if err != nil {
		return "", err
	}
	if err := o.changes.apply(ctx, o.Env, found.Object); err != nil {
		return "", err
	}
	if err := o.byCause.apply(ctx, chosen, found.Object); err != nil {
		return "", err
	}
	plan, err := o.client.Plan(ctx, found, o.request)
	if err != nil {
		return "", err
	}
	if o.print.DryRun == cmdutil.DryRunClient {
		return "", o.show(plan.Object, plan)
	}
	create := o.client.Create
	if o.request.Replace {
		create = o.client.Replace
	}
	made, err := create(ctx, found, plan)
	if err != nil {
		return "", err
	}
	if o.print.DryRun == cmdutil.DryRunServer {
		return "", o.show(made, plan)
	}
	name := made.GetName()
	if err := o.show(made, plan); err != nil {
		return name, cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("job.batch/%s was created, but cannot be printed: %v", name, err), "")
	}
	return name, nil
}

// runInPlace raises the memory of the Job itself, and returns its name; "" after a dry run.
func (o *Options) runInPlace(ctx context.Context, found *rerun.Candidate) (string, error) {
	b := &o.byCause
	plan, raised, err := o.client.PlanInPlace(ctx, found, b.ByFailure, b.raise)
	if err != nil {
		return "", err
	}
	b.raised = raised
	b.print(o.ErrOut, b.raised.Warnings())
	dry := ""
	if o.print.DryRun != cmdutil.DryRunNone {
		dry = " (dry run)"
	} else if err := o.client.RaiseInPlace(ctx, found, plan, o.Timing()); err != nil {
		return "", err
	}
	fmt.Fprintf(o.Out, "job.batch/%s resource requirements updated%s\n", sanitize.Line(found.Job.Name), dry)
	b.print(o.ErrOut, b.raised.Lines())
	if dry != "" {
		return "", nil
	}
	return found.Job.Name, nil
}

// stepsNotes is printed with a Job that is not created by this program: created by another client, it would run
// nothing.
const stepsNotes = `# This Job is suspended until the verb retry has written its status and resumes it:
# applied by something else, it runs nothing. For Git, use --by-annotation, with which
# the controller of this program runs the chosen indexes.
`

// show prints the created Job: a line, or the object in the format of -o; and to stderr the indexes that it runs.
func (o *Options) show(object *unstructured.Unstructured, plan *retry.Plan) error {
	for _, dropped := range plan.Dropped {
		fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(rerun.DroppedText(dropped)))
	}
	o.byCause.print(o.ErrOut, o.byCause.raised.Warnings())
	if o.print.PrintsObjects() && plan.Steps != nil && o.print.DryRun != cmdutil.DryRunNone {
		if o.print.Format() == "yaml" {
			fmt.Fprint(o.Out, stepsNotes)
		} else {
			fmt.Fprint(o.ErrOut, strings.ReplaceAll(stepsNotes, "# ", ""))
		}
	}
	err := o.print.PrintCreated(o.Out, manifests.Label(object), object)
	if o.print.Format() == "" {
		fmt.Fprintln(o.ErrOut, sanitize.Line(rerun.RunsText(plan)))
		o.byCause.print(o.ErrOut, o.byCause.raised.Lines())
	}
	return err
}

// follow runs wait or watch on the new Job, if asked to.
func (o *Options) follow(cmd *cobra.Command, name string) error {
	switch {
	case o.wait && cmd.Flags().Changed("timeout"):
		return cmdutil.RunVerb(cmd, "wait", "job/"+name, fmt.Sprintf("--timeout=%s", o.timeout))
	case o.wait:
		return cmdutil.RunVerb(cmd, "wait", "job/"+name)
	case o.watch:
		return cmdutil.RunVerb(cmd, "watch", "job/"+name)
	}
	return nil
}
